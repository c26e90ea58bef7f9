"""Programs in a Python of their own, as a user would start them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 240

# Before anything else a program gets what tests/conftest.py gives to tests.
EIGHT_DEVICES = "import jax; jax.config.update('jax_num_cpu_devices', 8)\n"


def run_python(*arguments: str, folder: Path = ROOT) -> str:
    """What the program prints; an AssertionError with all it printed if it fails."""
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "KERAS_BACKEND": "jax",
        "PYTHONPATH": str(ROOT / "tests"),
        "PYTHONWARNINGS": "default",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        env=environment,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode != 0:
        msg = f"{arguments} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        raise AssertionError(msg)
    return done.stdout
