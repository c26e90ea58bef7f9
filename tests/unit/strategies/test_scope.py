"""Which strategy is the current one, and what must not be nested."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Any

import jax.numpy as jnp
import pytest

import replax
from replax import distribute
from replax.distribute import MirroredStrategy, OneDeviceStrategy, Strategy
from running import Runner, compiled, context, eagerly


@pytest.fixture(scope="module")
def strategy() -> MirroredStrategy:
    return MirroredStrategy(["CPU:0", "CPU:1"])


@pytest.fixture(scope="module")
def other() -> OneDeviceStrategy:
    return OneDeviceStrategy("CPU:2")


@pytest.fixture
def clean() -> Generator[None]:
    yield
    distribute.experimental_set_strategy(None)


@pytest.fixture(params=[eagerly, compiled])
def run(request: pytest.FixtureRequest) -> Runner:
    return request.param


def where() -> tuple[Strategy, bool, bool, bool]:
    return (
        distribute.get_strategy(),
        distribute.has_strategy(),
        distribute.in_cross_replica_context(),
        distribute.get_replica_context() is None,
    )


def test_outside_there_is_the_default_strategy() -> None:
    default = distribute.get_strategy()
    assert default is distribute.get_strategy()
    assert where() == (default, False, False, False)
    assert default.num_replicas_in_sync == 1


def test_a_scope_makes_a_strategy_current(strategy: MirroredStrategy) -> None:
    with strategy.scope() as entered:
        assert entered is strategy
        assert where() == (strategy, True, True, True)
        with strategy.scope():
            assert where() == (strategy, True, True, True)
        assert where() == (strategy, True, True, True)
    assert not distribute.has_strategy()


def test_an_exception_leaves_the_scope(strategy: MirroredStrategy) -> None:
    with pytest.raises(KeyError), strategy.scope():
        raise KeyError
    assert not distribute.has_strategy()


def test_a_step_is_in_replica_context(strategy: MirroredStrategy, run: Runner) -> None:
    seen: list[Any] = []

    def step() -> None:
        seen.append(where())
        context().merge_call(lambda _: seen.append(where()))

    run(strategy, step)
    assert seen[0] == (strategy, True, False, False)
    assert seen[-1] == (strategy, True, True, True)
    assert not distribute.has_strategy()


def test_the_default_strategys_scope_changes_nothing() -> None:
    default = distribute.get_strategy()
    with default.scope():
        assert where() == (default, False, False, False)
        assert float(context().all_reduce("SUM", 2.0)) == 2
        with MirroredStrategy(["CPU:0"]).scope() as inner:
            assert where() == (inner, True, True, True)
    default.run(lambda: where() == (default, False, False, False))


def test_another_strategys_scope_is_refused(
    strategy: MirroredStrategy, other: OneDeviceStrategy
) -> None:
    for outer, inner in (
        (strategy, other),
        (other, strategy),
        (strategy, distribute.get_strategy()),
    ):
        with (
            outer.scope(),
            pytest.raises(RuntimeError, match=r"inside of the scope of .*do not nest"),
            inner.scope(),
        ):
            pass
        with (
            outer.scope(),
            pytest.raises(RuntimeError, match=r"run of .*leave that sco"),
        ):
            inner.run(lambda: 1)
        with outer.scope():
            assert distribute.get_strategy() is outer


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.scope().__enter__(),
        lambda s: s.run(lambda: 1),
        lambda s: s.experimental_distribute_values_from_function(lambda c: 1),
    ],
    ids=["scope", "run", "values"],
)
def test_in_a_step_it_is_refused(
    strategy: MirroredStrategy,
    other: OneDeviceStrategy,
    run: Runner,
    use: Callable[[Strategy], Any],
) -> None:
    for inner in (strategy, other):
        with pytest.raises(
            RuntimeError, match="inside of a step, which runs on one rep"
        ):
            run(strategy, lambda inner=inner: use(inner))


def test_the_current_strategy_is_that_of_the_thread(strategy: MirroredStrategy) -> None:
    seen: list[Any] = []
    with strategy.scope():
        thread = threading.Thread(target=lambda: seen.append(distribute.has_strategy()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_threads_have_strategies_of_their_own(
    strategy: MirroredStrategy, other: OneDeviceStrategy
) -> None:
    both_in = threading.Barrier(2, timeout=20)
    seen: dict[str, Any] = {}

    def use(name: str, mine: Strategy) -> None:
        with mine.scope():
            both_in.wait()
            seen[name] = distribute.get_strategy()
            seen[f"{name} sum"] = mine.reduce(
                "SUM", mine.run(lambda: jnp.float32(1)), None
            )

    threads = [
        threading.Thread(target=use, args=("a", strategy)),
        threading.Thread(target=use, args=("b", other)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (seen["a"], seen["b"]) == (strategy, other)
    assert (seen["a sum"], seen["b sum"]) == (2, 1)


@pytest.mark.usefixtures("clean")
class TestSetStrategy:
    def test_it_holds_without_a_block(
        self, strategy: MirroredStrategy, other: OneDeviceStrategy
    ) -> None:
        distribute.experimental_set_strategy(strategy)
        assert where() == (strategy, True, True, True)
        assert isinstance(replax.Variable(1.0), distribute.DistributedValues)
        with strategy.scope():
            assert distribute.get_strategy() is strategy
        with pytest.raises(RuntimeError, match="do not nest"):
            other.scope().__enter__()
        distribute.experimental_set_strategy(other)
        assert distribute.get_strategy() is other
        distribute.experimental_set_strategy(None)
        assert where()[1:] == (False, False, False)

    def test_the_default_strategy_is_none(self, strategy: MirroredStrategy) -> None:
        default = distribute.get_strategy()
        distribute.experimental_set_strategy(strategy)
        distribute.experimental_set_strategy(default)
        assert where() == (default, False, False, False)

    def test_in_a_scope_or_a_step_it_is_refused(
        self, strategy: MirroredStrategy
    ) -> None:
        with (
            strategy.scope(),
            pytest.raises(RuntimeError, match=r"leave the .* block first"),
        ):
            distribute.experimental_set_strategy(strategy)
        with pytest.raises(RuntimeError, match="experimental_set_strategy inside of"):
            strategy.run(lambda: distribute.experimental_set_strategy(None))

    def test_another_thread_does_not_have_it(self, strategy: MirroredStrategy) -> None:
        distribute.experimental_set_strategy(strategy)
        seen: list[Any] = []
        thread = threading.Thread(target=lambda: seen.append(distribute.has_strategy()))
        thread.start()
        thread.join()
        assert seen == [False]

    @pytest.mark.parametrize("value", ["mirrored", MirroredStrategy, 1])
    def test_only_strategies_are_taken(self, value: Any) -> None:
        with pytest.raises(
            TypeError, match="is not a strategy; give a Strategy, or None"
        ):
            distribute.experimental_set_strategy(value)
