"""The roll of a group: what processes publish of themselves, and read of the others."""

from __future__ import annotations

import time

from replax._src.cluster.coordination import Coordination
from replax._src.cluster.sightings import Departure, Sighting

__all__ = ["Roll"]

_AT = "replax/watchdog/at"
_GONE = "replax/watchdog/gone"


class Roll:
    """Which processes are there, where they are, and which have ended.

    Attributes:
      departed: The processes that have come to their end, by rank.

    Args:
      coordination: How the processes talk.
    """

    def __init__(self, coordination: Coordination) -> None:
        self.departed: dict[int, Departure] = {}
        self._coordination = coordination
        self._began = time.monotonic()
        # Of each process its last sighting, and when it was first read.
        self._seen: dict[int, tuple[Sighting, float]] = {}

    @property
    def missing(self) -> set[int]:
        """The processes that have not come to their end."""
        return set(range(self._coordination.size)) - self.departed.keys()

    def publish(self, sighting: Sighting) -> None:
        """Says where this process is."""
        key = f"{_AT}/{sighting.rank}"
        self._coordination.put(key, sighting.written(), again=True)

    def depart(self, departure: Departure) -> None:
        """Says that this process has come to its end."""
        key = f"{_GONE}/{departure.rank}"
        self._coordination.put(key, departure.written(), again=True)
        self.departed[departure.rank] = departure

    def read_departures(self) -> None:
        """Reads who has come to his end meanwhile."""
        for rank, text in self._coordination.all_below(_GONE).items():
            if int(rank) not in self.departed:
                self.departed[int(rank)] = Departure.read(int(rank), text)

    def read(self) -> list[Sighting]:
        """Where all processes are, as far as they have said so."""
        texts = self._coordination.all_below(_AT)
        now = time.monotonic()
        for rank, text in texts.items():
            sighting = Sighting.read(int(rank), text)
            last, _ = self._seen.get(sighting.rank, (None, now))
            if last is None or last.beat != sighting.beat:
                self._seen[sighting.rank] = sighting, now
        return self.sightings()

    def sightings(self) -> list[Sighting]:
        """Where all processes were when it was last read."""
        now = time.monotonic()
        return [sighting.later(now - at) for sighting, at in self._seen.values()]

    def last_of(self, rank: int) -> Sighting | None:
        """Where a process was last, if it was read."""
        seen = self._seen.get(rank)
        return None if seen is None else seen[0]

    def silent_since(self, moment: float) -> list[int]:
        """The processes not heard of after a moment, of those that have not ended.

        Args:
          moment: By ``time.monotonic``.
        """
        return [
            rank
            for rank in sorted(self.missing - {self._coordination.rank})
            if (self._seen[rank][1] if rank in self._seen else self._began) <= moment
        ]
