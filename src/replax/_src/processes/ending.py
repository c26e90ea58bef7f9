"""What became of a process."""

from __future__ import annotations

import contextlib
import signal

__all__ = ["how_it_ended"]


def how_it_ended(code: int | None) -> str:
    """In words, for an error.

    Args:
      code: The exit code, or as ``subprocess`` has it, a negative signal.
    """
    if code is None or code >= 0:
        return f"ended with exit code {code}"
    name = str(-code)
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
    return f"was killed by {name}"
