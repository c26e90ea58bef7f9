"""How many programs may be unfinished at a time.

XLA on CPU runs the participants of a collective on a shared pool of threads. With
more than about 32 multi-device programs under way the participants of the oldest one
find no thread, wait for each other and abort the process. Every dispatch of a
multi-device program therefore passes :func:`admit`.
"""

from __future__ import annotations

import collections
import threading

import jax

__all__ = ["LIMIT", "admit", "drain"]

# Waiting at least every 16 programs never failed on 2 to 16 devices; a step is far
# longer than the wait for one that was dispatched 8 steps ago.
LIMIT = 8

_in_flight: collections.deque[jax.Array] = collections.deque()
_lock = threading.Lock()


def admit(token: jax.Array) -> None:
    """Counts a dispatched program, and waits for an old one if there are too many.

    Args:
      token: An output of the program that nobody donates, so that it can be waited
        for later.
    """
    with _lock:
        _in_flight.append(token)
        oldest = _in_flight.popleft() if len(_in_flight) > LIMIT else None
    if oldest is not None:
        oldest.block_until_ready()


def drain() -> None:
    """Waits for every program that was admitted."""
    while _in_flight:
        with _lock:
            token = _in_flight.popleft() if _in_flight else None
        if token is not None:
            token.block_until_ready()
