"""Assertions about values."""

from __future__ import annotations

from typing import Any

import numpy as np

from replax._src.compat.conversion import operands
from replax._src.core.errors import InvalidArgumentError

__all__ = ["assert_equal"]


def assert_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError unless two values are equal.

    In a compiled function it asks for the values, and so makes the function run as
    Python.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_equal(tf.size([1, 2]), 2)
    """
    del summarize
    found, wanted = (np.asarray(value) for value in operands(x, y))
    if not np.all(found == wanted):
        said = f"{message}: " if message else ""
        msg = f"{said}{found} and {wanted} are not equal"
        raise InvalidArgumentError(msg)
