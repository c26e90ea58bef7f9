"""Two processes with two devices each do what one process with four does."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import replax
from replax.distribute import MirroredStrategy, MultiWorkerMirroredStrategy, Strategy
from replax.testing import run_processes

Aggregation = replax.VariableAggregation
ON_READ = replax.VariableSynchronization.ON_READ


def context() -> Any:
    return replax.distribute.get_replica_context()


def local(strategy: Strategy, value: Any) -> list[Any]:
    """What each replica of this process has."""
    results = strategy.experimental_local_results(value)
    return [jax.tree.map(np.asarray, result) for result in results]


def draws(strategy: Strategy) -> dict[str, Any]:
    strategy.set_seed(7)

    def draw() -> Any:
        one = jax.random.uniform(context().prng_key())
        return one, jax.random.normal(context().prng_key(), (2,))

    compiled = replax.function(lambda: strategy.run(draw))
    return {
        "local draws": local(strategy, compiled()) + local(strategy, compiled()),
        "local draws eagerly": local(strategy, strategy.run(draw)),
    }


def aggregations(strategy: Strategy) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with strategy.scope():
            mirrored = replax.Variable(1.0, aggregation=Aggregation[kind])
            on_read = replax.Variable(
                0.0, synchronization=ON_READ, aggregation=Aggregation[kind]
            )

        def step(mirrored: Any = mirrored, on_read: Any = on_read) -> None:
            mine = context().replica_id_in_sync_group + 1.0
            mirrored.assign_add(mine)
            on_read.assign_add(mine * mine)

        replax.function(lambda step=step: strategy.run(step))()
        strategy.run(step)
        found[f"mirrored {kind}"] = mirrored.numpy()
        found[f"on read {kind}"] = on_read.numpy()
        found[f"local on read {kind}"] = local(strategy, on_read)
    return found


def trees(strategy: Strategy) -> dict[str, Any]:
    """The state of an optimizer, and weights that are drawn without a seed."""
    optimizer: Any = optax.adam(0.1)
    with strategy.scope():
        weights = replax.Variable({"w": np.arange(3.0, dtype="f"), "b": np.float32(1)})
        state = replax.Variable(optimizer.init(weights.read_value()))

    @replax.function
    def train() -> Any:
        def step() -> Any:
            scale = context().replica_id_in_sync_group + 1.0
            gradient = jax.tree.map(lambda w: w * scale, weights.read_value())
            gradient = context().all_reduce("MEAN", gradient)
            updates, new = optimizer.update(gradient, state.read_value())
            weights.assign(optax.apply_updates(weights.read_value(), updates))
            state.assign(new)

        strategy.run(step)

    for _ in range(3):
        train()
    return {"weights": weights.numpy(), "state": jax.tree.leaves(state.numpy())}


def uneven(strategy: Strategy) -> dict[str, Any]:
    rows = (3, 2, 0, 1)
    value = strategy.experimental_distribute_values_from_function(
        lambda c: (
            np.full((rows[c.replica_id_in_sync_group], 2), 1.5, np.float32)
            + c.replica_id_in_sync_group
        )
    )
    names = strategy.experimental_distribute_values_from_function(
        lambda c: np.array(
            [f"{c.replica_id_in_sync_group}/{i}" for i in range(2)], dtype=object
        )
    )

    def merged(where: Any, value: Any) -> Any:
        return where.reduce("SUM", value, axis=None)

    def step(x: Any, names: Any) -> Any:
        total = context().merge_call(merged, args=(jnp.sum(x),))
        return total, context().all_gather(x, axis=0), names

    total, gathered, passed = strategy.run(step, args=(value, names))
    return {
        "sum of rows": np.asarray(strategy.reduce("SUM", value, axis=0)),
        "mean of rows": np.asarray(strategy.reduce("MEAN", value, axis=0)),
        "rows": np.asarray(strategy.gather(value, axis=0)),
        "names": [str(name) for name in strategy.gather(names, axis=0)],
        "local names": [[str(x) for x in part] for part in local(strategy, passed)],
        "merged": local(strategy, total)[0],
        "gathered": local(strategy, gathered)[0],
        "local rows": local(strategy, value),
    }


def extended(strategy: Strategy) -> dict[str, Any]:
    with strategy.scope():
        v = replax.Variable([1.0, 2.0])
    ids = strategy.experimental_distribute_values_from_function(
        lambda c: np.full(2, c.replica_id_in_sync_group, np.float32)
    )
    with strategy.scope():
        total = strategy.extended.reduce_to("SUM", ids, v)
        strategy.extended.update(v, lambda v, x: v.assign_add(x), args=(total,))
        spread = strategy.extended.broadcast_to(np.float32(3))
    return {
        "reduced": local(strategy, total)[0],
        "updated": v.numpy(),
        "local spread": local(strategy, spread),
    }


def host_program(strategy: Strategy) -> dict[str, Any]:
    data = replax.data.Dataset.range(11, output_type=np.int32).batch(4)
    distributed = strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        seen = replax.Variable(np.int32(0))

    @replax.function
    def epoch(iterator: Any) -> Any:
        steps = 0
        for x in iterator:
            total = strategy.run(lambda x: context().all_reduce("SUM", x.sum()), (x,))
            seen.assign_add(strategy.experimental_local_results(total)[0])
            steps += 1
            if seen.numpy() > 20:
                break
        return steps

    return {"steps": epoch(iter(distributed)), "seen": seen.numpy()}


def everything(strategy: Strategy) -> dict[str, Any]:
    parts = (draws, aggregations, trees, uneven, extended, host_program)
    return {name: v for part in parts for name, v in part(strategy).items()}


def of_worker() -> dict[str, Any]:
    return everything(MultiWorkerMirroredStrategy())


def test_two_processes_with_two_devices_do_what_one_with_four_does() -> None:
    first, second = run_processes(2, of_worker, devices=2, timeout=240).values
    alone = everything(MirroredStrategy([f"CPU:{i}" for i in range(4)]))
    assert first.keys() == second.keys() == alone.keys()
    for name, wanted in alone.items():
        if name.startswith("local"):
            # Four replicas at a time, of which each process has two.
            steps = range(0, len(wanted), 4)
            found = [
                part
                for i in steps
                for worker in (first, second)
                for part in worker[name][i // 2 : i // 2 + 2]
            ]
            pairs = [(found, wanted)]
        else:
            pairs = [(first[name], wanted), (second[name], wanted)]
        for found, expected in pairs:
            jax.tree.map(
                lambda a, b, name=name: (
                    np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=name)
                    if not isinstance(b, str)
                    else np.testing.assert_equal(a, b, err_msg=name)
                ),
                found,
                expected,
            )
    assert len({float(one) for one, _ in alone["local draws"]}) == 8
