"""What workers learned of their shares of the data, brought together."""

from __future__ import annotations

import base64
import itertools
import pickle
import zlib
from collections.abc import Sequence
from typing import Any, Protocol

from replax._src.cluster.coordination import Coordination

__all__ = ["Statistics", "merge_across"]

# A worker may have far more to read than another one. One that has died is noticed by
# JAX, long before this.
SECONDS = 3600

# JAX's coordination service takes a few megabytes under one key.
_PIECE = 2**20

# How many times this process has done it; all workers do it equally often.
_number = itertools.count()


class Statistics(Protocol):
    """What is learned from data."""

    def state(self) -> Any:
        """It, for :meth:`merge` in another process."""

    def merge(self, state: Any) -> None:
        """Adds what was learned by another process."""


def merge_across(
    statistics: Statistics, empty: Statistics, ranks: Sequence[int], group: Coordination
) -> Statistics:
    """What all of some workers learned; the same, to the last bit, on each of them.

    Args:
      statistics: What this one has learned.
      empty: The same without data.
      ranks: The workers.
      group: What they talk through.
    """
    place = f"replax/adapt/{next(_number)}"
    first = ranks[0]
    if group.rank != first:
        _publish(group, f"{place}/{group.rank}", statistics.state())
        empty.merge(_published(group, f"{place}/all", first))
        _publish(group, f"{place}/done/{group.rank}", None)
        return empty
    # In the order of ranks, so that sums are rounded in one way.
    empty.merge(statistics.state())
    for rank in ranks[1:]:
        empty.merge(_published(group, f"{place}/{rank}", rank))
    merged = empty.state()
    _publish(group, f"{place}/all", merged)
    for rank in ranks[1:]:
        _published(group, f"{place}/done/{rank}", rank)
    group.delete(place)
    return empty


def _publish(group: Coordination, place: str, value: Any) -> None:
    packed = base64.b64encode(zlib.compress(pickle.dumps(value), 1)).decode("ascii")
    pieces = range(0, len(packed), _PIECE)
    for number, start in enumerate(pieces):
        group.put(f"{place}/{number}", packed[start : start + _PIECE])
    group.put(f"{place}/count", str(len(pieces)))


def _published(group: Coordination, place: str, rank: int) -> Any:
    whose = f"rank {rank}"
    count = int(group.get(f"{place}/count", SECONDS, whose))
    packed = "".join(group.get(f"{place}/{i}", SECONDS, whose) for i in range(count))
    # It comes from a process of the same program, which could run any code itself.
    return pickle.loads(zlib.decompress(base64.b64decode(packed)))  # noqa: S301
