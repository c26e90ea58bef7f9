"""The threads of eager runs, kept for the next one.

A new thread costs an eager step about a millisecond, and one that has run a replica
before next to nothing. A thread that finds nothing to do for a while ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

__all__ = ["run_in_thread"]

# How long a thread waits for the next run, in seconds.
_PATIENCE = 5.0

_IDLE_NAME = "replax-idle"


class _Thread:
    """One thread, which runs one job after the other."""

    def __init__(self, job: Callable[[], object], name: str) -> None:
        self._job: Callable[[], object] | None = job
        # Held while there is nothing to do.
        self._wanted = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def give(self, job: Callable[[], object], name: str) -> None:
        """Lets it run a job; it has to be idle."""
        self._job = job
        self._thread.name = name
        self._wanted.release()

    def _serve(self) -> None:
        self._wanted.acquire()
        while self._job is not None:
            job, self._job = self._job, None
            job()
            del job  # or it would keep what the run has used
            self._thread.name = _IDLE_NAME
            with _changing:
                _idle.append(self)
            if not self._wanted.acquire(timeout=_PATIENCE):
                with _changing:
                    if self in _idle:
                        _idle.remove(self)
                        return
                self._wanted.acquire()  # somebody is about to give it a job


_idle: list[_Thread] = []
_changing = threading.Lock()


def run_in_thread(job: Callable[[], object], name: str) -> None:
    """Runs ``job`` in a thread of that name; it has to catch all errors.

    Raises:
      RuntimeError: A thread is needed, and the process cannot have one more.
    """
    with _changing:
        thread = _idle.pop() if _idle else None
    if thread is None:
        _Thread(job, name)
    else:
        thread.give(job, name)


def _forget() -> None:
    """In a process that was forked, which has none of the threads."""
    global _changing  # noqa: PLW0603 - somebody may have held it
    _changing = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
