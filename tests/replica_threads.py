"""The threads in which replicas run."""

from __future__ import annotations

import threading
import time


def require_no_replica_running(seconds: float = 20.0) -> None:
    """Waits until no thread runs a replica any more."""
    end = time.monotonic() + seconds
    while running := [t for t in threading.enumerate() if "replica-" in t.name]:
        assert time.monotonic() < end, running
        time.sleep(0.005)
