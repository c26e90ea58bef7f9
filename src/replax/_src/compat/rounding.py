"""Division, and numbers rounded to whole ones."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import convert_to_tensor, operands
from replax._src.compat.dtypes import float32, float64, kind_of

__all__ = [
    "ceil",
    "divide",
    "divide_no_nan",
    "floor",
    "floordiv",
    "floormod",
    "round",
    "truediv",
]


def ceil(x: Any, name: str | None = None) -> Any:
    """The least whole number that is no less.

    >>> import replax.compat.v2 as tf
    >>> tf.math.ceil([1.2, -1.2])
    Array([ 2., -1.], dtype=float32)
    """
    del name
    return jnp.ceil(convert_to_tensor(x))


def floor(x: Any, name: str | None = None) -> Any:
    """The greatest whole number that is no greater.

    >>> import replax.compat.v2 as tf
    >>> tf.floor([1.7, -1.2])
    Array([ 1., -2.], dtype=float32)
    """
    del name
    return jnp.floor(convert_to_tensor(x))


def round(x: Any, name: str | None = None) -> Any:
    """The nearest whole number; in the middle, the even one.

    >>> import replax.compat.v2 as tf
    >>> tf.round([0.5, 1.5])
    Array([0., 2.], dtype=float32)
    """
    del name
    return jnp.round(convert_to_tensor(x))


def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient, rounded down.

    >>> import replax.compat.v2 as tf
    >>> tf.math.floordiv([7, -7], 2)
    Array([ 3, -4], dtype=int32)
    """
    del name
    a, b = operands(x, y)
    return jnp.floor_divide(a, b)


def floormod(x: Any, y: Any, name: str | None = None) -> Any:
    """What is left over by :func:`floordiv`; it has the sign of y.

    >>> import replax.compat.v2 as tf
    >>> tf.math.floormod([7, -7], 3)
    Array([1, 2], dtype=int32)
    """
    del name
    a, b = operands(x, y)
    return jnp.mod(a, b)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient of x and y; of whole numbers it is a real one.

    >>> import replax.compat.v2 as tf
    >>> tf.divide([1.0, 2.0], 2)
    Array([0.5, 1. ], dtype=float32)
    """
    return truediv(x, y, name)


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient of x and y; of whole numbers it is a real one, of 64 bits.

    >>> import replax.compat.v2 as tf
    >>> tf.truediv(1, 2)
    Array(0.5, dtype=float64)
    """
    del name
    a, b = operands(x, y)
    return jnp.divide(*(_real(part) for part in (a, b)))


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient of x and y, and 0 where y is 0.

    >>> import replax.compat.v2 as tf
    >>> tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0])
    Array([0. , 0.5], dtype=float32)
    """
    del name
    a, b = operands(x, y)
    is_zero = b == 0
    return jnp.where(is_zero, 0, a / jnp.where(is_zero, 1, b))


def _real(array: Any) -> Any:
    """Whole numbers as the real ones that TensorFlow makes of them."""
    if kind_of(array.dtype) > kind_of(np.int32):
        return array
    return array.astype(float32 if array.dtype.itemsize < 4 else float64)
