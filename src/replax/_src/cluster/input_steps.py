"""Steps of distributed data that one process has, and another one could not make.

Where every process knows by itself what the others read, nothing is said step by step.
A process whose input fails then says so once, and the watchdogs of the others read it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Self

from replax._src.cluster.coordination import Coordination
from replax._src.core.errors import ReplaxError, UnavailableError

__all__ = ["InputFailure", "InputSteps"]

_FAILED = "replax/watchdog/failed"


@dataclasses.dataclass(frozen=True)
class InputFailure:
    """That a process has no data for a step for which the others may have some.

    Attributes:
      rank: Which process.
      iteration: Which iteration over which dataset, by a name that all have for it.
      step: Which step of it.
      collectives: How many operations the process has begun together with the others.
      error: What it raised, in words.
    """

    rank: int
    iteration: str
    step: int
    collectives: int
    error: str

    def written(self) -> str:
        """As a text to publish; the rank and the iteration are in its key."""
        return json.dumps([self.step, self.collectives, self.error])

    @classmethod
    def read(cls, rank: int, iteration: str, text: str) -> Self:
        """From what was published."""
        return cls(rank, iteration, *json.loads(text))

    def __str__(self) -> str:
        return (
            f"rank {self.rank} could not make step {self.step} of its dataset, so that "
            f"no rank can run it; it reports {self.error}"
        )


class InputSteps:
    """How far this process is in its data, and at which steps others have failed.

    An iteration over a dataset has a name, which is the same on all processes.

    Args:
      coordination: How the processes talk.
      collectives: How many operations this process has begun together with the others.
    """

    def __init__(
        self, coordination: Coordination, collectives: Callable[[], int]
    ) -> None:
        self._coordination = coordination
        self._collectives = collectives
        # Of each iteration that goes on, how many steps were taken here.
        self._taken: dict[str, int] = {}
        # The steps that could not be made here.
        self._failed: set[tuple[str, int]] = set()
        # The last failure of each iteration of the other processes.
        self._failures: Sequence[InputFailure] = ()

    def fail(self, iteration: str, step: int, error: str) -> None:
        """Says that this process has no data for a step.

        Args:
          iteration: Which iteration over which dataset.
          step: Which step of it.
          error: What was raised, in words.
        """
        self._failed.add((iteration, step))
        rank, begun = self._coordination.rank, self._collectives()
        failure = InputFailure(rank, iteration, step, begun, error)
        key = f"{_FAILED}/{rank}/{iteration}"
        self._coordination.put(key, failure.written(), again=True)

    def take(self, iteration: str, steps: int) -> None:
        """Notes how many steps this process has; says nothing, and asks nobody.

        Args:
          iteration: Which iteration over which dataset.
          steps: How many steps of it.

        Raises:
          UnavailableError: Another process could not make one of them.
        """
        self._taken[iteration] = steps
        if self._failures:
            for failure in self.missed():
                if failure.iteration == iteration:
                    raise UnavailableError(str(failure))

    def end(self, iteration: str) -> None:
        """The iteration has come to its end here, so that it is worth to ask.

        Raises:
          UnavailableError: Another process could not make one of the steps.
        """
        taken = self._taken.get(iteration)
        if taken is not None:
            with contextlib.suppress(ReplaxError):  # when the service is gone
                self.read()
            self.take(iteration, taken)
            self.forget(iteration)

    def forget(self, iteration: str) -> None:
        """This process takes no more steps of the iteration."""
        self._taken.pop(iteration, None)

    def read(self) -> None:
        """Reads whose input has failed meanwhile."""
        failures: list[InputFailure] = []
        for key, text in self._coordination.all_below(_FAILED).items():
            rank, _, iteration = key.partition("/")
            if int(rank) != self._coordination.rank:
                failures.append(InputFailure.read(int(rank), iteration, text))
        self._failures = failures

    def missed(self) -> list[InputFailure]:
        """Steps that this process has, and that another one could not make."""
        return [
            failure
            for failure in self._failures
            if failure.step < self._taken.get(failure.iteration, 0)
            and (failure.iteration, failure.step) not in self._failed
        ]
