"""What a process says while it waits for the others to start.

They may be minutes apart, and JAX says nothing before it gives up. Then it ends the
process, so what there is to say has to be said before.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections.abc import Generator

from replax._src.cluster.addresses import host_of, port_of

__all__ = ["telling"]

# After how many seconds it is said for the first time, at most; then after twice as
# long each time.
_PATIENCE = 15.0
# For how many seconds to look whether process 0 answers.
_LOOK = 5.0


@contextlib.contextmanager
def telling(
    who: str, coordinator: str, timeout: float, *, here: bool
) -> Generator[None]:
    """Tells from time to time what is waited for in the block.

    Args:
      who: Which process this is, in words.
      coordinator: Where process 0 is.
      timeout: For how many seconds the others are waited for.
      here: Whether this is process 0.
    """
    end = threading.Event()
    thread = threading.Thread(
        target=_tell,
        kwargs={
            "who": who,
            "coordinator": coordinator,
            "timeout": timeout,
            "here": here,
            "end": end,
        },
        name="replax-waiting",
        daemon=True,
    )
    thread.start()
    try:
        yield
    finally:
        end.set()


def _tell(
    *, who: str, coordinator: str, timeout: float, here: bool, end: threading.Event
) -> None:
    began = time.monotonic()
    pause = min(_PATIENCE, timeout / 2)
    while not end.wait(pause):
        what = "" if here else _unreachable(coordinator)
        logging.getLogger("replax").warning(
            "%s has waited %.0f s at %s for the others of its cluster%s; it waits "
            "%.0f s in all, after which JAX ends it and lists the numbers of the "
            "processes that are missing: see that all are started, or run "
            "replax doctor on each",
            who,
            time.monotonic() - began,
            coordinator,
            what,
            timeout,
        )
        pause *= 2


def _unreachable(coordinator: str) -> str:
    """What is in the way to process 0, if something is."""
    place = host_of(coordinator) or "", port_of(coordinator) or 0
    try:
        socket.create_connection(place, _LOOK).close()
    except OSError as error:
        return f", and does not reach process 0 there ({error})"
    return ""
