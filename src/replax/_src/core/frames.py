"""Where in the user's program something happened."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path

from replax._src.core import jax_compat

__all__ = ["error_location", "user_location"]

_PACKAGE = str(Path(__file__).resolve().parents[2])
_JAX = "/jax/_src/"


def user_location() -> str:
    """File, line and function of the innermost frame that is neither ours nor JAX's."""
    frame = inspect.currentframe()
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and _JAX not in name:
            return f"{name}:{frame.f_lineno} ({frame.f_code.co_name})"
        frame = frame.f_back
    return "an unknown place"


def error_location(error: BaseException) -> str:
    """The innermost line of the user's on the way to where an error was raised."""
    found = "an unknown place"
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        if not name.startswith(_PACKAGE) and _JAX not in name:
            found = f"{name}:{line} ({frame.f_code.co_name})"
    return found


# Errors and locations that JAX reports point at user code instead of at this package.
jax_compat.register_internal_frames(_PACKAGE)
