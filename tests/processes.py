"""Processes of the system: whether they are there, and waiting until they are not."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

SECONDS = 60


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Looks again and again; an AssertionError after a minute."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited {SECONDS} s in vain until {what}"
        time.sleep(0.01)


def wait_until_gone(pids: Iterable[int]) -> None:
    """Waits until none of the processes runs."""
    for pid in pids:
        wait_until(lambda pid=pid: not is_running(pid), f"process {pid} has ended")


def is_running(pid: int) -> bool:
    """Whether there is such a process, other than one that waits to be buried."""
    if Path("/proc/self/stat").exists():
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        state = stat.rpartition(")")[2].split()[0]
    else:
        listed = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)],
            capture_output=True,
            check=False,
            text=True,
            timeout=SECONDS,
        )
        state = listed.stdout.strip()
    return state != "" and state[0] not in "ZX"
