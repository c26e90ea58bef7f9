"""One of the processes of a test, as the test sees it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from replax._src.processes import lifeline, raised
from replax._src.processes.ending import how_it_ended
from replax._src.processes.group import GroupLeader
from replax._src.processes.program import command
from replax._src.processes.raised import Raised
from replax._src.testing import child
from replax._src.testing.child import CLOCK, RAISED, RETURNED
from replax._src.testing.failures import ProcessFailure

__all__ = ["Member", "Place"]

_HEADER = len(RETURNED) + CLOCK.size


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a process runs.

    Attributes:
      environment: All variables of its environment.
      prefix: What its command line begins with: a program that becomes the process, and
        changes something before, such as ``ip netns exec``.
    """

    environment: Mapping[str, str]
    prefix: tuple[str, ...] = ()


class Member:
    """A process that runs a function, and the files through which it is told and tells.

    The files have no names, so nothing of them is left behind.

    Args:
      rank: Which one it is.
      order: What it is to do (see sending.py).
      place: Where it runs.
    """

    def __init__(self, rank: int, order: bytes, place: Place) -> None:
        self.rank = rank
        # What was done to it: that it was ended, that it took too long.
        self.stopped = False
        self.late = ""
        self._ended_at: float | None = None
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            told, self._answer, self._output = files
            told.write(order)
            told.seek(0)
            descriptors = (told.fileno(), self._answer.fileno())
            line = [*place.prefix, *command([lifeline, raised, child], *descriptors)]
            self.process = GroupLeader(
                line, place.environment, self._output, descriptors
            )
            told.close()
            stack.pop_all()

    def has_ended(self) -> bool:
        """Whether the process is over."""
        if self._ended_at is None and self.process.ended() is not None:
            self._ended_at = time.monotonic()
        return self._ended_at is not None

    def failed_at(self) -> float | None:
        """When it failed, by ``time.monotonic``; None if it has not, so far."""
        kind, at, _ = self._answered(_HEADER)
        if kind == RAISED:
            return at
        if self.has_ended() and (kind is None or self.process.ended() != 0):
            return self._ended_at
        return None

    def output(self) -> str:
        """All that it has printed."""
        return _read(self._output.fileno()).decode(errors="replace")

    def returned(self) -> bool:
        """Whether its function has."""
        return self._answered(_HEADER)[0] == RETURNED

    def value(self) -> Any:
        """What its function has returned."""
        return pickle.loads(self._answered()[2])  # noqa: S301  # from our process

    def failure(self) -> ProcessFailure | None:
        """What went wrong, when it has ended; None if nothing did, or it was ended."""
        kind, _, body = self._answered()
        code = None if self.stopped else self.process.ended()
        if kind == RAISED:
            told = Raised.of_body(body)
            what, error, where = _what(told), told.rebuilt(), told.traceback
        else:
            what, error, where = self._end_without_error(kind), None, ""
        if not what:
            return None
        return ProcessFailure(self.rank, what, error, where, code, self.output())

    def close(self) -> None:
        """Ends the process, and lets go of its files."""
        self.process.kill()
        self._answer.close()
        self._output.close()

    def _end_without_error(self, kind: bytes | None) -> str:
        returned = "its function returned, but the process " if kind else ""
        if self.late:
            return f"{returned}{self.late}"
        code = self.process.ended()
        if self.stopped or (kind and code == 0):
            return ""
        before = "" if kind else " before its function returned"
        return f"{returned}{how_it_ended(code)}{before}"

    def _answered(self, size: int | None = None) -> tuple[bytes | None, float, bytes]:
        answer = _read(self._answer.fileno(), size)
        if len(answer) < _HEADER:
            return None, 0.0, b""
        (at,) = CLOCK.unpack(answer[len(RETURNED) : _HEADER])
        return answer[: len(RETURNED)], at, answer[_HEADER:]


def _what(told: Raised) -> str:
    what = f"{told.name}: {told.text}" if told.text else told.name
    if told.stage == "function":
        return (
            f"the function or its arguments cannot be rebuilt in another process "
            f"({what}); let it import what it needs"
        )
    if told.stage == "result":
        return (
            f"what the function returned cannot be pickled ({what}); return numbers, "
            f"text, or NumPy arrays"
        )
    return what


def _read(descriptor: int, size: int | None = None) -> bytes:
    # The process writes at the same place of the same open file, so we may not move it.
    return os.pread(
        descriptor, os.fstat(descriptor).st_size if size is None else size, 0
    )
