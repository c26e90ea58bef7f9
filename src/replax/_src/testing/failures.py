"""What went wrong in processes of a test."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from replax._src.core.errors import ReplaxError

__all__ = ["ProcessFailure", "ProcessesError"]

# How many lines of output an error shows of a process that failed, and of another one.
_LINES = 60
_LINES_OF_OTHERS = 15


@dataclasses.dataclass(frozen=True)
class ProcessFailure:
    """How one process failed.

    Attributes:
      rank: Which one.
      what: What happened, in a line.
      error: The exception that its function raised; None if there is none, or if it
        cannot be pickled.
      traceback: Where the exception was raised.
      exit_code: What the process ended with, negative for a signal; None if it had to
        be ended, because it did not do so by itself after it had failed.
      output: All that it printed.

    >>> from replax.testing import ProcessesError, run_processes
    >>> try:
    ...     run_processes(2, lambda: 1 / 0)
    ... except ProcessesError as error:
    ...     print(error.failures[1].what)
    ZeroDivisionError: division by zero
    """

    rank: int
    what: str
    error: Exception | None
    traceback: str
    exit_code: int | None
    output: str


class ProcessesError(ReplaxError, RuntimeError):
    """One process or more failed.

    Attributes:
      failures: How, by rank; the first one that failed comes first.
      values: What the function returned, by the rank of the others.
      outputs: What each process printed, by rank.
      stopped: Which ones neither failed nor returned, but were ended.

    >>> from replax.testing import ProcessesError, current_process, run_processes
    >>> try:
    ...     run_processes(2, lambda: 1 // current_process().rank, grace=60)
    ... except ProcessesError as error:
    ...     print(list(error.failures), error.values)
    [0] {1: 1}
    """

    def __init__(
        self,
        failures: Mapping[int, ProcessFailure],
        values: Mapping[int, Any],
        outputs: Mapping[int, str],
        stopped: tuple[int, ...],
    ) -> None:
        self.failures = dict(failures)
        self.values = dict(values)
        self.outputs = dict(outputs)
        self.stopped = stopped
        super().__init__(self._text())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.failures, self.values, self.outputs, self.stopped)

    def _text(self) -> str:
        size = len(self.outputs)
        blocks = [_block(failure, size) for failure in self.failures.values()]
        if self.stopped:
            blocks.append(f"{_ranks(self.stopped)} ended because of that")
        blocks += [
            _shown(self.outputs[rank], rank, _LINES_OF_OTHERS)
            for rank in sorted(self.outputs.keys() - self.failures.keys())
            if self.outputs[rank].strip()
        ]
        return "\n".join(blocks)


def _block(failure: ProcessFailure, size: int) -> str:
    parts = [f"rank {failure.rank} of {size} failed: {failure.what}"]
    if failure.traceback:
        parts.append(failure.traceback.rstrip())
    if failure.output.strip():
        parts.append(_shown(failure.output, failure.rank, _LINES))
    return "\n".join(parts)


def _ranks(ranks: tuple[int, ...]) -> str:
    if len(ranks) == 1:
        return f"rank {ranks[0]} was"
    return f"ranks {', '.join(map(str, ranks))} were"


def _shown(output: str, rank: int, count: int) -> str:
    lines = output.rstrip().splitlines()
    shown = lines[-count:]
    which = "" if len(shown) == len(lines) else f", the last {count} lines"
    return "\n".join(
        [f"--- what rank {rank} printed{which}", *shown, f"--- end of rank {rank}"]
    )
