"""What `import replax` costs."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

import table

_PROGRAM = """
import time
start = time.perf_counter()
import {}
print(time.perf_counter() - start)
"""
_ROUNDS = 15


def import_time() -> list[table.Row]:
    """Importing, in fresh processes."""
    times: dict[str, list[float]] = {"replax": [], "jax": []}
    with tempfile.TemporaryDirectory() as folder:
        for name in times:
            _seconds(name, folder)  # compiles to bytecode, as installing does
        for _ in range(_ROUNDS):
            for name, seconds in times.items():
                seconds.append(_seconds(name, folder))
    ours, theirs = (statistics.median(seconds) for seconds in times.values())
    return [table.compared("import replax; import jax", ours, theirs, 1.15)]


def _seconds(name: str, bytecode: str) -> float:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(  # noqa: S603 - it is Python itself that is run
        [sys.executable, "-c", _PROGRAM.format(name)],
        capture_output=True,
        check=True,
        env=environment,
        text=True,
    )
    return float(done.stdout)


if __name__ == "__main__":
    table.report(import_time)
