"""The names of files that match patterns."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any

import numpy as np

from replax._src.core.errors import NotFoundError

__all__ = ["file_names", "path_of"]


def path_of(name: Any) -> str:
    """A name of a file as a string, from whatever it was given as."""
    if isinstance(name, (np.ndarray, np.generic)):
        name = name.item()
    return os.fsdecode(name)


def file_names(patterns: Any) -> np.ndarray:
    """The names that match any of the patterns, in alphabetical order.

    Raises:
      NotFoundError: A pattern matches no file.
    """
    if isinstance(patterns, (str, bytes, os.PathLike)):
        patterns = [patterns]
    names: list[str] = []
    for pattern in map(path_of, np.ravel(np.asarray(patterns, object))):
        # Not Path.glob: it takes no absolute patterns.
        found = sorted(glob.glob(pattern))  # noqa: PTH207
        if not found:
            msg = (
                f"no file matches {pattern!r} (looked from {Path.cwd()}); check the "
                f"name, and that the pattern has a * where names differ"
            )
            raise NotFoundError(msg)
        names += found
    column = np.empty(len(names), object)
    column[:] = [os.fsencode(name) for name in names]
    return column
