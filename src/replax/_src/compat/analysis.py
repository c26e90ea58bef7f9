"""Functions of real numbers: angles, exponentials, and which numbers are none."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from replax._src.compat.conversion import convert_to_tensor, operands

__all__ = [
    "atan",
    "cos",
    "erf",
    "expm1",
    "is_finite",
    "is_inf",
    "is_nan",
    "log1p",
    "logical_xor",
    "reciprocal",
    "rsqrt",
    "sin",
    "softplus",
    "squared_difference",
    "tan",
]


def sin(x: Any, name: str | None = None) -> Any:
    """The sine of angles in radians.

    >>> import replax.compat.v2 as tf
    >>> tf.sin(0.0)
    Array(0., dtype=float32)
    """
    del name
    return jnp.sin(convert_to_tensor(x))


def cos(x: Any, name: str | None = None) -> Any:
    """The cosine of angles in radians.

    >>> import replax.compat.v2 as tf
    >>> tf.cos(0.0)
    Array(1., dtype=float32)
    """
    del name
    return jnp.cos(convert_to_tensor(x))


def tan(x: Any, name: str | None = None) -> Any:
    """The tangent of angles in radians.

    >>> import replax.compat.v2 as tf
    >>> tf.tan(0.0)
    Array(0., dtype=float32)
    """
    del name
    return jnp.tan(convert_to_tensor(x))


def atan(x: Any, name: str | None = None) -> Any:
    """The angle, in radians, that has this tangent.

    >>> import replax.compat.v2 as tf
    >>> tf.atan(0.0)
    Array(0., dtype=float32)
    """
    del name
    return jnp.arctan(convert_to_tensor(x))


def expm1(x: Any, name: str | None = None) -> Any:
    """exp(x) - 1, exact for small numbers too.

    >>> import replax.compat.v2 as tf
    >>> tf.math.expm1(0.0)
    Array(0., dtype=float32)
    """
    del name
    return jnp.expm1(convert_to_tensor(x))


def log1p(x: Any, name: str | None = None) -> Any:
    """log(1 + x), exact for small numbers too.

    >>> import replax.compat.v2 as tf
    >>> tf.math.log1p(0.0)
    Array(0., dtype=float32)
    """
    del name
    return jnp.log1p(convert_to_tensor(x))


def rsqrt(x: Any, name: str | None = None) -> Any:
    """1 / sqrt(x).

    >>> import replax.compat.v2 as tf
    >>> tf.math.rsqrt(4.0)
    Array(0.5, dtype=float32)
    """
    del name
    return jax.lax.rsqrt(convert_to_tensor(x))


def reciprocal(x: Any, name: str | None = None) -> Any:
    """1 / x.

    >>> import replax.compat.v2 as tf
    >>> tf.math.reciprocal(4.0)
    Array(0.25, dtype=float32)
    """
    del name
    return jnp.reciprocal(convert_to_tensor(x))


def softplus(features: Any, name: str | None = None) -> Any:
    """log(1 + exp(x)).

    >>> import replax.compat.v2 as tf
    >>> tf.math.softplus(100.0)
    Array(100., dtype=float32)
    """
    del name
    return jax.nn.softplus(convert_to_tensor(features))


def erf(x: Any, name: str | None = None) -> Any:
    """The error function of Gauss.

    >>> import replax.compat.v2 as tf
    >>> tf.math.erf(0.0)
    Array(0., dtype=float32)
    """
    del name
    return jax.lax.erf(convert_to_tensor(x))


def is_nan(x: Any, name: str | None = None) -> Any:
    """Which elements are no numbers.

    >>> import replax.compat.v2 as tf
    >>> tf.math.is_nan([1.0, float("nan")])
    Array([False,  True], dtype=bool)
    """
    del name
    return jnp.isnan(convert_to_tensor(x))


def is_inf(x: Any, name: str | None = None) -> Any:
    """Which elements are infinite.

    >>> import replax.compat.v2 as tf
    >>> tf.math.is_inf([1.0, float("inf")])
    Array([False,  True], dtype=bool)
    """
    del name
    return jnp.isinf(convert_to_tensor(x))


def is_finite(x: Any, name: str | None = None) -> Any:
    """Which elements are numbers, and not infinite.

    >>> import replax.compat.v2 as tf
    >>> tf.math.is_finite([1.0, float("inf")])
    Array([ True, False], dtype=bool)
    """
    del name
    return jnp.isfinite(convert_to_tensor(x))


def squared_difference(x: Any, y: Any, name: str | None = None) -> Any:
    """(x - y) squared.

    >>> import replax.compat.v2 as tf
    >>> tf.math.squared_difference([1, 5], 3)
    Array([4, 4], dtype=int32)
    """
    del name
    a, b = operands(x, y)
    return jnp.square(a - b)


def logical_xor(x: Any, y: Any, name: str | None = None) -> Any:
    """Where one is True, and not both.

    >>> import replax.compat.v2 as tf
    >>> tf.math.logical_xor([True, False], True)
    Array([False,  True], dtype=bool)
    """
    del name
    a, b = operands(x, y)
    return jnp.logical_xor(a, b)
