"""Input of which nothing is told step by step, and which fails on one worker."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import replax
from replax.testing import ProcessesError, current_process, run_processes


def batches(failing: tuple[int, ...]) -> Any:
    """Ten batches of two, of which every worker knows that there are ten."""

    def fail(x: Any) -> Any:
        if current_process().rank in failing and 8 in x:
            raise ZeroDivisionError("at eight")
        return x

    return replax.data.Dataset.range(20).batch(2).map(fail)


def taken(iterator: Any) -> tuple[int, list[str]]:
    """How many steps there are, and the errors beside them."""
    steps = 0
    errors: list[str] = []
    while True:
        try:
            if next(iterator, None) is None:
                return steps, errors
            steps += 1
        except Exception as error:  # noqa: BLE001 - which one it is, is the answer
            errors.append(f"{type(error).__name__}: {error}")
            if len(errors) == 3:
                return steps, errors


def wait_for(path: Path) -> None:
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def loops_without_collectives(folder: str) -> Any:
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    rank = current_process().rank
    distribute = strategy.experimental_distribute_dataset
    found = []
    for number, failing in enumerate([(1,), (0, 1), ()]):
        iterator = iter(distribute(batches(failing)))
        path = Path(folder, str(number))
        if rank == 0 and failing == (1,):
            for _ in range(3):
                next(iterator)
            wait_for(path)
        found.append(taken(iterator))
        if rank == 1:
            path.touch()
    return found


def test_the_others_hear_of_it_when_they_go_on(tmp_path: Path) -> None:
    one, other = run_processes(2, loops_without_collectives, str(tmp_path)).values
    assert other[0][0] == 9
    (own,) = other[0][1]
    assert own.startswith("ZeroDivisionError: at eight")
    theirs = one[0][1]
    assert theirs
    for text in theirs:
        assert text.startswith("UnavailableError: rank 1 could not make step 4 of its")
        assert "no rank can run it" in text
        assert "ZeroDivisionError: at eight" in text
    # Where all fail at the same step, all may go on behind it.
    for _, (steps, errors) in enumerate((one[1], other[1])):
        assert steps == 9
        assert len(errors) == 1
        assert errors[0].startswith("ZeroDivisionError: at eight")
    assert one[2] == other[2] == (10, [])


def trained_while_another_one_does_something_else() -> None:
    strategy = replax.distribute.MultiWorkerMirroredStrategy()

    @replax.function
    def step(x: Any) -> Any:
        def total(x: Any) -> Any:
            context: Any = replax.distribute.get_replica_context()
            return context.all_reduce("SUM", x.sum())

        return strategy.run(total, args=(x,))

    try:
        for x in strategy.experimental_distribute_dataset(batches((1,))):
            for value in strategy.experimental_local_results(step(x)):
                np.asarray(value)
    except ZeroDivisionError:
        time.sleep(10_000)


def test_who_waits_in_a_collective_is_released() -> None:
    with pytest.raises(ProcessesError) as caught:
        run_processes(
            2, trained_while_another_one_does_something_else, grace=120, timeout=240
        )
    assert not caught.value.stopped, caught.value
    text = str(caught.value)
    assert "rank 0 of 2 gives up: rank 1 could not make step 4 of its dataset" in text
    assert "it reports ZeroDivisionError: at eight" in text
