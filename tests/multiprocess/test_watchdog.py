"""Groups in which somebody is stuck, killed, or gone."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import replax
from replax.testing import ProcessesError, current_process, run_processes


def trained(at_step_3: Callable[[], bool]) -> list[float]:
    """Sums over the group for six steps; rank 1 does something else at the fourth.

    Args:
      at_step_3: What it does, and whether it goes on then.
    """
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    ones = np.ones(5000, np.float32)

    @replax.function
    def step(x: Any) -> Any:
        def summed(x: Any) -> Any:
            context: Any = replax.distribute.get_replica_context()
            return context.all_reduce("SUM", x).sum()

        return strategy.run(summed, args=(x,))

    values: list[float] = []
    for i in range(6):
        if i == 3 and current_process().rank == 1 and not at_step_3():
            break
        total = step(ones)
        values.append(float(strategy.reduce("MEAN", total, axis=None)))
    return values


def failed(at_step_3: Callable[[], bool], n: int) -> ProcessesError:
    with pytest.raises(ProcessesError) as caught:
        run_processes(n, trained, at_step_3, grace=120, timeout=240)
    assert not caught.value.stopped, caught.value
    return caught.value


def test_a_healthy_group_ends_without_a_word() -> None:
    result = run_processes(2, trained, lambda: True)
    assert result.values == [[10000.0] * 6] * 2
    assert not [out for out in result.outputs if "replax" in out]


def test_a_stalled_group_says_who_is_where_and_ends() -> None:
    def read_slowly() -> None:
        # As in a collective, no signal gets through to Python.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        strategy = replax.distribute.MultiWorkerMirroredStrategy()

        def stay_in_input(x: Any) -> Any:
            if current_process().rank == 1 and x[0] >= 9:
                time.sleep(10_000)
            return x

        data = replax.data.Dataset.range(30).batch(3).map(stay_in_input)

        @replax.function
        def step(x: Any) -> Any:
            def total(x: Any) -> Any:
                context: Any = replax.distribute.get_replica_context()
                return context.all_reduce("SUM", x.sum())

            return strategy.run(total, args=(x,))

        for x in strategy.experimental_distribute_dataset(data):
            for value in strategy.experimental_local_results(step(x)):
                float(value)

    with pytest.raises(ProcessesError) as caught:
        run_processes(
            3,
            read_slowly,
            # It is long enough for the first steps on a loaded machine.
            env={"REPLAX_STALL_TIMEOUT": "10"},
            grace=120,
            timeout=240,
        )
    error = caught.value
    assert not error.stopped, error
    assert sorted(error.failures) == [0, 1, 2]
    for rank, failure in error.failures.items():
        assert failure.exit_code != 0
        text = failure.output
        assert f"replax: rank {rank} of 3 gives up: no process has got on for" in text
        assert "REPLAX_STALL_TIMEOUT=seconds" in text
        (line,) = [x for x in text.splitlines() if "<- the others wait for it" in x]
        assert line.startswith("  rank 1 at step 3, phase 'input', for "), text
        assert f"the stacks of rank {rank}:" in text
    assert "in stay_in_input" in error.failures[1].output


def test_a_killed_process_is_named_by_the_others() -> None:
    def die() -> bool:
        os.kill(os.getpid(), signal.SIGKILL)
        return True

    error = failed(die, 3)
    for _ in range(2):
        survivors = {error.failures[rank].exit_code for rank in (0, 2)}
        if survivors.isdisjoint({-signal.SIGABRT, -signal.SIGSEGV}):
            break
        # Seldom native code ends a survivor before Python hears of the loss.
        error = failed(die, 3)
    assert error.failures[1].exit_code == -signal.SIGKILL
    for rank in (0, 2):
        raised = error.failures[rank].error
        assert isinstance(raised, replax.errors.UnavailableError), error
        assert "rank 1 is gone: it was last seen at step " in str(raised)
        assert f"Step 3 of rank {rank} needs all 3 processes (" in str(raised)
        assert "start all again from the last checkpoint" in str(raised)
        assert error.failures[rank].exit_code == 1, error


def test_nobody_waits_for_a_process_that_has_returned() -> None:
    error = failed(lambda: False, 2)
    text = error.failures[0].output
    assert "gives up: rank 1 has ended, before step 3, and rank 0 cannot go on" in text
    assert "all processes have to run the same steps" in text
    # It has returned, but the group has failed.
    assert error.failures[1].exit_code == 1
    assert "rank 1 ends, and has not met at its end: rank 0" in error.failures[1].output


def test_an_error_that_nobody_catches_says_who_is_gone() -> None:
    def read_by_oneself() -> None:
        strategy = replax.distribute.MultiWorkerMirroredStrategy()

        @replax.function
        def step(x: Any) -> Any:
            def total(x: Any) -> Any:
                context: Any = replax.distribute.get_replica_context()
                return context.all_reduce("SUM", x).sum()

            return strategy.run(total, args=(x,))

        for i in range(3):
            if i == 2 and current_process().rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                float(step(np.ones(5000, np.float32)).values[0])
            except Exception as error:
                import sys

                # As Python does at the end of a program.
                sys.excepthook(type(error), error, error.__traceback__)
                raise SystemExit(1) from error

    with pytest.raises(ProcessesError) as caught:
        run_processes(2, read_by_oneself, grace=120)
    text = caught.value.failures[0].output
    assert "was the direct cause of the following exception" in text
    assert "UnavailableError: rank 1 is gone: it was last seen at step " in text
    assert "Step 2 of rank 0 needs all 2 processes" in text
