"""Keys of random numbers: the same each time, other ones everywhere else."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import replax
from replax.distribute import MirroredStrategy, OneDeviceStrategy, Strategy
from running import Runner, compiled, context, eagerly


def keys(strategy: Strategy, run: Runner, draws: int = 1) -> list[Any]:
    """The keys of each replica, as rows of numbers."""

    def step() -> Any:
        return [jax.random.key_data(context().prng_key()) for _ in range(draws)]

    found = [strategy.experimental_local_results(k) for k in run(strategy, step)]
    return np.array(found).reshape(draws, -1, 2).swapaxes(0, 1).tolist()


@pytest.fixture
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1", "CPU:2"])


@pytest.mark.parametrize("run", [eagerly, compiled])
def test_every_replica_step_and_draw_has_its_own(
    strategy: MirroredStrategy, run: Runner
) -> None:
    found = [tuple(k) for _ in range(3) for row in keys(strategy, run, 2) for k in row]
    assert len(found) == len(set(found)) == 18


def test_both_forms_draw_the_same_at_the_same_step(strategy: MirroredStrategy) -> None:
    one = [keys(strategy, eagerly, 2) for _ in range(3)]
    strategy.set_seed(0)
    assert [keys(strategy, compiled, 2) for _ in range(3)] == one
    strategy.set_seed(0)
    mixed = [keys(strategy, run, 2) for run in (compiled, eagerly, compiled)]
    assert mixed == one


def test_the_seed_decides(strategy: MirroredStrategy) -> None:
    other = MirroredStrategy(["CPU:4", "CPU:5", "CPU:6"])
    assert keys(strategy, eagerly) == keys(other, eagerly)
    other.set_seed(1)
    assert keys(strategy, eagerly) != keys(other, eagerly)
    strategy.set_seed(1)
    other.set_seed(1)
    assert keys(strategy, eagerly) == keys(other, eagerly)


def test_a_run_that_draws_nothing_is_no_step(strategy: MirroredStrategy) -> None:
    first = keys(strategy, eagerly)
    strategy.set_seed(0)
    strategy.run(lambda: 1)
    compiled(strategy, lambda: 1)
    assert keys(strategy, eagerly) == first


def test_one_replica_draws_what_the_first_of_many_draws(
    strategy: MirroredStrategy,
) -> None:
    one = OneDeviceStrategy("CPU:1")
    for run in (eagerly, compiled):
        assert keys(one, run, 2)[0] == keys(strategy, run, 2)[0]


def test_outside_of_every_scope_each_context_is_a_step() -> None:
    first, second = (context().prng_key() for _ in range(2))
    here = context()
    third, fourth = here.prng_key(), here.prng_key()
    found = [
        tuple(jax.random.key_data(k).tolist()) for k in (first, second, third, fourth)
    ]
    assert len(set(found)) == 4
    replax.distribute.get_strategy().set_seed(5)
    again = context().prng_key()
    replax.distribute.get_strategy().set_seed(5)
    assert jax.random.key_data(context().prng_key()).tolist() == (
        jax.random.key_data(again).tolist()
    )


def test_two_runs_in_one_function_are_two_steps(strategy: MirroredStrategy) -> None:
    def step() -> Any:
        return jax.random.key_data(context().prng_key())

    def both() -> Any:
        return strategy.run(step), strategy.run(step)

    def rows(found: Any) -> list[Any]:
        return [np.asarray(v).tolist() for pair in found for v in pair.values]

    wanted = [rows(both()) for _ in range(2)]
    strategy.set_seed(0)
    program = replax.function(both)
    assert [rows(program()) for _ in range(2)] == wanted
