"""Replicas take turns, meet, and never wait for what will not come."""

from __future__ import annotations

import contextvars
import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from replax._src.execution.baton import Turns
from replica_threads import require_no_replica_running

Step = Callable[[Turns, int], Any]


def run(count: int, step: Step) -> list[Any]:
    turns = Turns(count)
    return turns.run(lambda index: step(turns, index))


def shared(brought: list[Any]) -> Sequence[Any]:
    return [tuple(brought)] * len(brought)


def test_replicas_run_one_after_the_other_between_meetings() -> None:
    order: list[tuple[int, str]] = []

    def step(turns: Turns, index: int) -> Any:
        order.append((index, "begins"))
        met = turns.meet(index, "meeting", index * 10, shared)
        order.append((index, "ends"))
        return met

    assert run(3, step) == [(0, 10, 20)] * 3
    assert order[:3] == [(i, "begins") for i in range(3)]
    assert {what for _, what in order[3:]} == {"ends"}
    require_no_replica_running()


def test_the_order_is_the_same_each_time() -> None:
    def trace() -> list[Any]:
        order: list[Any] = []

        def step(turns: Turns, index: int) -> None:
            for number in range(3):
                order.append((index, number))
                turns.meet(index, f"meeting {number}", None, shared)

        run(4, step)
        return order

    assert trace() == trace()


def test_replica_zero_runs_in_the_callers_thread() -> None:
    found = run(3, lambda *_: (threading.get_ident(), threading.current_thread().name))
    here = threading.get_ident()
    assert [ident == here for ident, _ in found] == [True, False, False]
    assert [name for _, name in found[1:]] == ["replica-1", "replica-2"]


def test_a_replica_sees_the_callers_context_variables() -> None:
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    assert run(3, lambda _, index: variable.get()) == [7, 7, 7]


@pytest.mark.parametrize("failing", range(4))
@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_a_failure_of_any_replica_ends_the_run(failing: int, when: str) -> None:
    def step(turns: Turns, index: int) -> None:
        for place in ("before", "between", "after"):
            if index == failing and place == when:
                message = f"broken {place}"
                raise KeyError(message)
            if place != "after":
                turns.meet(index, place, None, shared)

    with pytest.raises(KeyError, match=f"broken {when}") as raised:
        run(4, step)
    assert raised.value.__notes__ == [f"(raised on replica {failing} of 4)"]
    require_no_replica_running()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("index_of_it", [0, 2])
def test_an_interruption_is_passed_on(
    interrupt: type[BaseException], index_of_it: int
) -> None:
    def step(turns: Turns, index: int) -> None:
        if index == index_of_it:
            raise interrupt
        turns.meet(index, "meeting", None, shared)

    with pytest.raises(interrupt):
        run(3, step)
    require_no_replica_running()


def test_a_replica_that_returns_early_strands_the_others() -> None:
    def step(turns: Turns, index: int) -> None:
        if index != 1:
            turns.meet(index, "the sum", None, shared)

    with pytest.raises(RuntimeError) as raised:
        run(3, step)
    message = str(raised.value)
    assert "replica 0 waits at the sum" in message
    assert f"{__file__}:" in message
    assert "replica 1 has returned without coming there" in message
    require_no_replica_running()


def test_different_meetings_are_named_with_their_lines() -> None:
    def step(turns: Turns, index: int) -> None:
        if index < 2:
            turns.meet(index, "the sum", None, shared)
        else:
            turns.meet(index, "the mean", None, shared)

    with pytest.raises(RuntimeError) as raised:
        run(4, step)
    message = str(raised.value)
    assert "replica 2 is at the mean" in message
    assert "replica 0 is at the sum" in message
    assert message.count(f"{__file__}:") == 2
    assert "all replicas have to meet in the same operations" in message
    require_no_replica_running()


def test_an_error_in_a_meeting_names_the_meeting() -> None:
    def combine(brought: list[Any]) -> Sequence[Any]:
        message = f"cannot join {brought}"
        raise TypeError(message)

    def step(turns: Turns, index: int) -> None:
        turns.meet(index, "the sum", index, combine)

    with pytest.raises(TypeError, match=r"cannot join \[0, 1\]") as raised:
        run(2, step)
    assert len(raised.value.__notes__) == 1
    assert raised.value.__notes__[0].startswith(f"(raised in the sum, {__file__}:")
    require_no_replica_running()


def test_catching_the_error_of_a_meeting_does_not_go_on_alone() -> None:
    after: list[int] = []

    def combine(brought: list[Any]) -> Sequence[Any]:
        raise TypeError

    def step(turns: Turns, index: int) -> None:
        try:
            turns.meet(index, "the sum", index, combine)
        except TypeError:
            turns.meet(index, "the sum", index, shared)
            after.append(index)

    with pytest.raises(TypeError):
        run(3, step)
    assert after == []
    require_no_replica_running()


def test_replicas_clean_up_when_another_one_fails() -> None:
    cleaned: list[int] = []

    def step(turns: Turns, index: int) -> None:
        try:
            if index == 2:
                raise KeyError
            turns.meet(index, "meeting", None, shared)
        finally:
            cleaned.append(index)

    with pytest.raises(KeyError):
        run(3, step)
    assert sorted(cleaned) == [0, 1, 2]


def test_a_meeting_in_the_clean_up_of_a_failed_run_is_no_hang() -> None:
    def step(turns: Turns, index: int) -> None:
        try:
            if index == 1:
                raise KeyError
            turns.meet(index, "meeting", None, shared)
        finally:
            turns.meet(index, "clean up", None, shared)

    with pytest.raises(RuntimeError, match="replica 1 is at clean up") as raised:
        run(2, step)
    assert isinstance(raised.value.__context__, KeyError)
    require_no_replica_running()


def test_a_replica_that_was_never_started_is_not_waited_for() -> None:
    started: list[int] = []

    def step(turns: Turns, index: int) -> None:
        started.append(index)
        raise KeyError

    with pytest.raises(KeyError):
        run(4, step)
    assert started == [0]


def test_a_run_keeps_nothing_alive() -> None:
    class Big:
        pass

    seen: list[weakref.ref[Big]] = []

    def step(turns: Turns, index: int) -> None:
        big = Big()
        seen.append(weakref.ref(big))
        turns.meet(index, "meeting", big, lambda brought: brought)
        if index == 1:
            raise KeyError

    with pytest.raises(KeyError):
        run(2, step)
    require_no_replica_running()
    gc.collect()
    assert [ref() for ref in seen] == [None, None]


def test_runs_nest() -> None:
    def inner(turns: Turns, index: int) -> Any:
        return turns.meet(index, "inner", index, shared)

    def step(turns: Turns, index: int) -> Any:
        return turns.meet(index, "outer", index, lambda b: [run(2, inner)] * len(b))

    assert run(3, step) == [[(0, 1), (0, 1)]] * 3


def test_many_meetings_are_fast_enough_to_be_taken_for_granted() -> None:
    def step(turns: Turns, index: int) -> int:
        total = 0
        for number in range(300):
            total += sum(turns.meet(index, "sum", number, shared))
        return total

    assert run(8, step) == [8 * sum(range(300))] * 8
