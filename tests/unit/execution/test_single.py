"""A run on one replica: a call, in a replica's context and on its device."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax.distribute import (
    MirroredStrategy,
    OneDeviceStrategy,
    PerReplica,
    Strategy,
    get_replica_context,
    get_strategy,
)
from running import context, replica

MAKERS = [
    lambda: OneDeviceStrategy("CPU:1"),
    lambda: MirroredStrategy(["CPU:1"]),
    get_strategy,
]


@pytest.fixture(params=MAKERS, ids=["one device", "mirrored", "default"])
def strategy(request: pytest.FixtureRequest) -> Strategy:
    return request.param()


def test_results_are_plain(strategy: Strategy) -> None:
    found = strategy.run(lambda x, *, y: {"sum": x + y, "s": "text"}, (1,), {"y": 2})
    assert found == {"sum": 3, "s": "text"}


def test_the_context_is_that_of_an_only_replica(strategy: Strategy) -> None:
    def step() -> Any:
        here = context()
        assert here.num_replicas_in_sync == 1
        assert here.strategy is strategy
        return (
            replica(),
            here.all_reduce("SUM", jnp.float32(3)),
            here.all_reduce("MEAN", jnp.int32(3)),
            here.all_gather(jnp.arange(2), 0),
            here.merge_call(lambda s, x: (s is strategy, x), (5,)),
        )

    found = strategy.run(step)
    assert found[0] == 0
    assert float(found[1]) == float(found[2]) == 3
    assert found[3].tolist() == [0, 1]
    assert found[4] == (True, 5)


def test_per_replica_values_are_unwrapped(strategy: Strategy) -> None:
    values = strategy.experimental_distribute_values_from_function(
        lambda c: np.full(2, c.num_replicas_in_sync)
    )
    found = strategy.run(lambda x: x.at[0].set(5), (values,))
    assert found.tolist() == [5, 1]
    with pytest.raises(ValueError, match=r"argument \[0\] has 2 components"):
        strategy.run(lambda x: x, (PerReplica([1, 2]),))


def test_host_arrays_become_arrays_of_their_own(strategy: Strategy) -> None:
    mine = np.ones(1000, np.float32)
    found = strategy.run(lambda x: x, (mine,))
    assert isinstance(found, jax.Array)
    mine[:] = 7
    assert float(found.sum()) == 1000
    inside = replax.function(lambda: strategy.run(lambda x: x.at[0].set(3), (mine,)))
    assert inside()[:2].tolist() == [3, 7]


def test_everything_is_on_the_device() -> None:
    strategy = OneDeviceStrategy("CPU:3")
    far = jax.device_put(jnp.ones(2), jax.devices()[6])
    with strategy.scope():
        v = replax.Variable(jnp.ones(2))
    assert v.device == jax.devices()[3]
    for found in strategy.run(lambda x: (x, x + v, jnp.zeros(2)), (far,)):
        assert found.device == jax.devices()[3]
    compiled = replax.function(lambda x: strategy.run(lambda y: y + v, (x,)))
    assert compiled(far).device == jax.devices()[3]


def test_gradients_pass_through_a_run_on_one_replica(strategy: Strategy) -> None:
    def loss(w: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(lambda w: w * w, (w,)), None)

    assert float(jax.grad(loss)(3.0)) == 6


def test_a_nested_run_is_refused(strategy: Strategy) -> None:
    with pytest.raises(RuntimeError, match=r"run of .* inside of a step"):
        strategy.run(lambda: strategy.run(lambda: 1))


def test_outside_of_every_scope_there_is_a_default_context() -> None:
    here = get_replica_context()
    assert here is not None
    assert here.replica_id_in_sync_group == 0
    assert here.num_replicas_in_sync == 1
    assert here.strategy is get_strategy()
    assert float(here.all_reduce("SUM", 3.0)) == 3
    assert here.all_gather([jnp.arange(2)], 0)[0].tolist() == [0, 1]
    assert here.merge_call(lambda s, x: x + 1, (1,)) == 2
