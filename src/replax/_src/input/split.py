"""How a batch is split over replicas: by the numbers alone."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["part_length", "parts"]


def part_length(rows: int, replicas: int) -> int:
    """How many rows the first replica gets; later ones get as many, fewer, or none."""
    return -(-rows // replicas)


def parts(rows: int, replicas: int) -> Sequence[tuple[int, int]]:
    """Where the rows of each replica begin and end.

    >>> parts(9, 4)
    [(0, 3), (3, 6), (6, 9), (9, 9)]
    """
    length = part_length(rows, replicas)
    return [
        (min(i * length, rows), min((i + 1) * length, rows)) for i in range(replicas)
    ]
