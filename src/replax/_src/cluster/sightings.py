"""Where the processes of a group were seen, and what follows from it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Self

from replax._src.cluster.beacon import PROGRAM

__all__ = ["Departure", "Sighting", "described", "halted_for", "laggards"]

# Of how many processes a description tells.
_MANY = 32


@dataclasses.dataclass(frozen=True)
class Sighting:
    """Where a process was seen.

    Attributes:
      rank: Which one.
      beat: Counts how often it has published, so that its silence is noticed.
      phase: What it is at.
      step: Which step that is, or comes next.
      collectives: How many operations it has begun together with the others.
      seconds: For how long it has not moved.
    """

    rank: int
    beat: int
    phase: str
    step: int
    collectives: int
    seconds: float

    def written(self) -> str:
        """As a text to publish; the rank is in its key."""
        fields = [self.beat, self.phase, self.step, self.collectives]
        return json.dumps([*fields, round(self.seconds, 3)])

    @classmethod
    def read(cls, rank: int, text: str) -> Self:
        """From what was published."""
        return cls(rank, *json.loads(text))

    def later(self, seconds: float) -> Self:
        """The same process, if it has not moved so many seconds later."""
        return dataclasses.replace(self, seconds=self.seconds + seconds)

    def __str__(self) -> str:
        at = "before" if self.phase == PROGRAM else "at"
        what = " (its own code, or waiting for a result)" * (self.phase == PROGRAM)
        return (
            f"rank {self.rank} {at} step {self.step}, phase {self.phase!r}{what}, for "
            f"{self.seconds:.1f} s"
        )


@dataclasses.dataclass(frozen=True)
class Departure:
    """That a process has come to its end.

    Attributes:
      rank: Which one.
      step: How many steps it has begun.
      collectives: How many operations it has begun together with the others.
      how: How it has ended, in words, or why it has given up.
      failed: Whether it has given up.
    """

    rank: int
    step: int
    collectives: int
    how: str
    failed: bool

    def written(self) -> str:
        """As a text to publish; the rank is in its key."""
        return json.dumps([self.step, self.collectives, self.how, self.failed])

    @classmethod
    def read(cls, rank: int, text: str) -> Self:
        """From what was published."""
        return cls(rank, *json.loads(text))

    def __str__(self) -> str:
        how = "has given up" if self.failed else self.how
        return f"rank {self.rank} {how}, before step {self.step}"


def halted_for(sightings: Sequence[Sighting]) -> float:
    """For how many seconds no process has moved, though some may wait for others.

    Where all have done the same together and all are busy with code of their own, such
    as preparing data, none waits for another one; that is no halt.

    Args:
      sightings: Of each process one.
    """
    together = len({sighting.collectives for sighting in sightings}) == 1
    if together and all(sighting.phase == PROGRAM for sighting in sightings):
        return 0.0
    return min(sighting.seconds for sighting in sightings)


def laggards(sightings: Sequence[Sighting]) -> list[int]:
    """The processes for which the others wait; none if all have done the same."""
    fewest = min(sighting.collectives for sighting in sightings)
    behind = [s.rank for s in sightings if s.collectives == fewest]
    return behind if len(behind) < len(sightings) else []


def described(sightings: Sequence[Sighting]) -> str:
    """Who is where, a line each, those first for which others wait."""
    waited_for = laggards(sightings)
    lines: list[str] = []
    for sighting in sorted(sightings, key=lambda s: (s.collectives, s.rank)):
        note = "  <- the others wait for it" if sighting.rank in waited_for else ""
        lines.append(f"  {sighting}{note}")
    more = [f"  and {len(lines) - _MANY} more"] if len(lines) > _MANY else []
    return "\n".join([*lines[:_MANY], *more])
