"""Assertions about values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from replax._src.compat.conversion import convert_to_tensor, operands
from replax._src.core.errors import InvalidArgumentError

__all__ = [
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_non_negative",
    "assert_none_equal",
    "assert_positive",
    "check_numerics",
]


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
    _check(np.equal, "are not equal", x, y, message)


def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: str | None = None
) -> None:
    """Raises InvalidArgumentError if two values are equal at any place.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_none_equal(1, 2)
    """
    del summarize
    _check(np.not_equal, "are equal somewhere", x, y, message)


def assert_greater(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError unless x > y everywhere.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_greater(2, 1)
    """
    del summarize
    _check(np.greater, "do not have the first greater", x, y, message)


def assert_greater_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError unless x >= y everywhere.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_greater_equal(2, 2)
    """
    del summarize
    _check(np.greater_equal, "have the first less", x, y, message)


def assert_less(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError unless x < y everywhere.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_less(1, 2)
    """
    del summarize
    _check(np.less, "do not have the first less", x, y, message)


def assert_less_equal(
    x: Any, y: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError unless x <= y everywhere.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_less_equal(2, 2)
    """
    del summarize
    _check(np.less_equal, "have the first greater", x, y, message)


def assert_near(
    x: Any,
    y: Any,
    rtol: float | None = None,
    atol: float | None = None,
    message: str | None = None,
    summarize: int | None = None,
) -> None:
    """Raises InvalidArgumentError unless two values are about the same.

    Args:
      x: One.
      y: The other.
      rtol: How far they may be apart in relation to ``y``; 10 times the precision of
        the dtype by default.
      atol: How much more they may be apart; the same by default.
      message: Said before what is wrong.
      summarize: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_near(1.0, 1.0000001)
    """
    del summarize
    step = 10 * np.finfo(np.asarray(operands(x, y)[0]).dtype).eps
    relative, absolute = (step if given is None else given for given in (rtol, atol))

    def near(a: Any, b: Any) -> Any:
        return np.abs(a - b) <= absolute + relative * np.abs(b)

    _check(near, "are not about the same", x, y, message)


def assert_positive(
    x: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError unless all elements are greater than 0.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_positive([1, 2])
    """
    assert_greater(x, 0, message, summarize)


def assert_non_negative(
    x: Any, message: str | None = None, summarize: int | None = None
) -> None:
    """Raises InvalidArgumentError if an element is less than 0.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.assert_non_negative([0, 1])
    """
    assert_greater_equal(x, 0, message, summarize)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The value; InvalidArgumentError if an element is infinite or no number.

    >>> import replax.compat.v2 as tf
    >>> tf.debugging.check_numerics(1.5, "the loss")
    Array(1.5, dtype=float32)
    """
    del name
    value = convert_to_tensor(tensor)
    if not np.all(np.isfinite(np.asarray(value))):
        msg = f"{message}: {value} has elements that are infinite or no numbers"
        raise InvalidArgumentError(msg)
    return value


def Assert(
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raises InvalidArgumentError unless a condition holds.

    Args:
      condition: It.
      data: Values that the error shows.
      summarize: Taken for TensorFlow's sake.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.Assert(tf.constant(1) < 2, ["one is less than two"])
    """
    del summarize, name
    if not bool(np.all(np.asarray(convert_to_tensor(condition)))):
        msg = f"a condition does not hold: {', '.join(map(str, data))}"
        raise InvalidArgumentError(msg)


def _check(
    holds: Callable[[Any, Any], Any], what: str, x: Any, y: Any, message: str | None
) -> None:
    found, wanted = (np.asarray(value) for value in operands(x, y))
    if not np.all(holds(found, wanted)):
        said = f"{message}: " if message else ""
        msg = f"{said}{found} and {wanted} {what}"
        raise InvalidArgumentError(msg)
