"""Many variable-length integers at once."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["decode_varints"]

_MOST_BYTES = 10

Ints = np.ndarray[Any, np.dtype[np.int64]]


def decode_varints(
    data: np.ndarray[Any, np.dtype[np.uint8]], starts: Ints, sizes: Ints
) -> tuple[Ints, Ints, np.ndarray[Any, np.dtype[np.bool_]] | None]:
    """The integers in some stretches of the data.

    Args:
      data: The bytes.
      starts: Where the stretches begin.
      sizes: How many bytes each has.

    Returns:
      The integers of all stretches in a row, how many each has, and which stretches
      cannot be decoded here: then the rest is not to be used.
    """
    stops = np.cumsum(sizes)
    total = int(stops[-1]) if len(stops) else 0
    places = np.repeat(starts - stops + sizes, sizes)
    places += np.arange(total)
    raw = data[places]
    last = raw < 0x80
    ends = np.flatnonzero(last)
    if len(ends) == total:  # one byte each: small numbers
        return raw.astype(np.int64), sizes, None

    before = np.zeros(total + 1, np.int64)
    np.cumsum(last, out=before[1:])
    counts = before[stops] - before[stops - sizes]
    cut = (sizes > 0) & ~last[stops - 1]
    if cut.any():
        return ends, counts, cut

    begins = np.empty_like(ends)
    begins[0] = 0
    begins[1:] = ends[:-1] + 1
    more = ends - begins
    longest = int(more.max())
    if longest >= _MOST_BYTES - 1:
        # Ten bytes are 70 bits, of which 64 may be set: leave others to protobuf.
        too_long = (more >= _MOST_BYTES) | ((more == _MOST_BYTES - 1) & (raw[ends] > 1))
        if too_long.any():
            bad = np.zeros(len(sizes), np.bool_)
            bad[np.repeat(np.arange(len(sizes)), counts)[too_long]] = True
            return ends, counts, bad
    bits = (raw & 0x7F).astype(np.uint64)
    values = bits[begins]
    for i in range(1, longest + 1):
        longer = np.flatnonzero(more >= i)
        values[longer] |= bits[begins[longer] + i] << np.uint64(7 * i)
    return values.view(np.int64), counts, None
