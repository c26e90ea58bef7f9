"""Computing with arrays element by element."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import (
    another,
    convert_to_tensor,
    operands,
    tensors,
)

__all__ = [
    "abs",
    "add",
    "add_n",
    "clip_by_value",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "tanh",
]


def _of_one(function: Callable[[Any], Any], x: Any, name: str | None) -> Any:
    del name
    return function(convert_to_tensor(x))


def _of_two(
    function: Callable[[Any, Any], Any], x: Any, y: Any, name: str | None
) -> Any:
    del name
    a, b = operands(x, y)
    return function(a, b)


# --- of one array ---------------------------------------------------------------


def abs(x: Any, name: str | None = None) -> Any:
    """How far from zero each element is.

    >>> import replax.compat.v2 as tf
    >>> tf.abs([-1.5, 2.0])
    Array([1.5, 2. ], dtype=float32)
    """
    return _of_one(jnp.abs, x, name)


def negative(x: Any, name: str | None = None) -> Any:
    """Minus each element.

    >>> import replax.compat.v2 as tf
    >>> tf.negative([1, -2])
    Array([-1,  2], dtype=int32)
    """
    return _of_one(jnp.negative, x, name)


def square(x: Any, name: str | None = None) -> Any:
    """Each element times itself.

    >>> import replax.compat.v2 as tf
    >>> tf.square([2, 3])
    Array([4, 9], dtype=int32)
    """
    return _of_one(jnp.square, x, name)


def sqrt(x: Any, name: str | None = None) -> Any:
    """The square root of each element.

    >>> import replax.compat.v2 as tf
    >>> tf.sqrt(4.0)
    Array(2., dtype=float32)
    """
    return _of_one(jnp.sqrt, x, name)


def exp(x: Any, name: str | None = None) -> Any:
    """E to the power of each element.

    >>> import replax.compat.v2 as tf
    >>> tf.exp(0.0)
    Array(1., dtype=float32)
    """
    return _of_one(jnp.exp, x, name)


def log(x: Any, name: str | None = None) -> Any:
    """The natural logarithm of each element.

    >>> import replax.compat.v2 as tf
    >>> tf.math.log(1.0)
    Array(0., dtype=float32)
    """
    return _of_one(jnp.log, x, name)


def sigmoid(x: Any, name: str | None = None) -> Any:
    """1 / (1 + exp(-x)).

    >>> import replax.compat.v2 as tf
    >>> tf.sigmoid(0.0)
    Array(0.5, dtype=float32)
    """
    return _of_one(jax.nn.sigmoid, x, name)


def tanh(x: Any, name: str | None = None) -> Any:
    """The hyperbolic tangent of each element.

    >>> import replax.compat.v2 as tf
    >>> tf.tanh(0.0)
    Array(0., dtype=float32)
    """
    return _of_one(jnp.tanh, x, name)


def sign(x: Any, name: str | None = None) -> Any:
    """-1, 0 or 1 for each element.

    >>> import replax.compat.v2 as tf
    >>> tf.sign([-2.0, 0.0, 5.0])
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return _of_one(jnp.sign, x, name)


def logical_not(x: Any, name: str | None = None) -> Any:
    """True where an element is False.

    >>> import replax.compat.v2 as tf
    >>> tf.logical_not([True, False])
    Array([False,  True], dtype=bool)
    """
    return _of_one(jnp.logical_not, x, name)


# --- of two arrays --------------------------------------------------------------


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """X + y.

    >>> import replax.compat.v2 as tf
    >>> tf.add([1, 2], 3)
    Array([4, 5], dtype=int32)
    """
    return _of_two(jnp.add, x, y, name)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """X - y.

    >>> import replax.compat.v2 as tf
    >>> tf.subtract([1, 2], 3)
    Array([-2, -1], dtype=int32)
    """
    return _of_two(jnp.subtract, x, y, name)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """The product of x and y.

    >>> import replax.compat.v2 as tf
    >>> tf.multiply([1, 2], 3)
    Array([3, 6], dtype=int32)
    """
    return _of_two(jnp.multiply, x, y, name)


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """The y-th power of x.

    >>> import replax.compat.v2 as tf
    >>> tf.pow([2, 3], 2)
    Array([4, 9], dtype=int32)
    """
    return _of_two(jnp.power, x, y, name)


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """The greater one of two elements.

    >>> import replax.compat.v2 as tf
    >>> tf.maximum([1, 5], 3)
    Array([3, 5], dtype=int32)
    """
    return _of_two(jnp.maximum, x, y, name)


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """The lesser one of two elements.

    >>> import replax.compat.v2 as tf
    >>> tf.minimum([1, 5], 3)
    Array([1, 3], dtype=int32)
    """
    return _of_two(jnp.minimum, x, y, name)


def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where two values are equal; strings can be compared too.

    >>> import replax.compat.v2 as tf
    >>> tf.equal([1, 2], [1, 3])
    Array([ True, False], dtype=bool)
    """
    return _compared(np.equal, jnp.equal, x, y, name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where two values are not equal; strings can be compared too.

    >>> import replax.compat.v2 as tf
    >>> tf.not_equal([1, 2], [1, 3])
    Array([False,  True], dtype=bool)
    """
    return _compared(np.not_equal, jnp.not_equal, x, y, name)


def _compared(on_host: Any, on_device: Any, x: Any, y: Any, name: str | None) -> Any:
    del name
    a, b = operands(x, y)
    if isinstance(a, np.ndarray):
        return convert_to_tensor(on_host(a, b).astype(np.bool_))
    return on_device(a, b)


def less(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x < y.

    >>> import replax.compat.v2 as tf
    >>> tf.less([1, 2], 2)
    Array([ True, False], dtype=bool)
    """
    return _of_two(jnp.less, x, y, name)


def less_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x <= y.

    >>> import replax.compat.v2 as tf
    >>> tf.less_equal([1, 2], 1)
    Array([ True, False], dtype=bool)
    """
    return _of_two(jnp.less_equal, x, y, name)


def greater(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x > y.

    >>> import replax.compat.v2 as tf
    >>> tf.greater([1, 2], 1)
    Array([False,  True], dtype=bool)
    """
    return _of_two(jnp.greater, x, y, name)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Where x >= y.

    >>> import replax.compat.v2 as tf
    >>> tf.greater_equal([1, 2], 2)
    Array([False,  True], dtype=bool)
    """
    return _of_two(jnp.greater_equal, x, y, name)


def logical_and(x: Any, y: Any, name: str | None = None) -> Any:
    """Where both are True.

    >>> import replax.compat.v2 as tf
    >>> tf.logical_and([True, False], True)
    Array([ True, False], dtype=bool)
    """
    return _of_two(jnp.logical_and, x, y, name)


def logical_or(x: Any, y: Any, name: str | None = None) -> Any:
    """Where either is True.

    >>> import replax.compat.v2 as tf
    >>> tf.logical_or([True, False], False)
    Array([ True, False], dtype=bool)
    """
    return _of_two(jnp.logical_or, x, y, name)


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    name: str | None = None,
) -> Any:
    """The product of two matrices, or of two stacks of them.

    Args:
      a: A matrix, or several along leading dimensions.
      b: The same.
      transpose_a: Whether ``a`` is taken with its last two dimensions exchanged.
      transpose_b: The same for ``b``.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True)
    Array([[11.]], dtype=float32)
    """
    del name
    x, y = operands(a, b)
    for matrix in (x, y):
        if matrix.ndim < 2:
            msg = (
                f"matmul of shapes {x.shape} and {y.shape}: both have to be matrices; "
                f"tf.reshape makes a row or a column of a vector"
            )
            raise ValueError(msg)
    x = jnp.swapaxes(x, -1, -2) if transpose_a else x
    y = jnp.swapaxes(y, -1, -2) if transpose_b else y
    return jnp.matmul(x, y)


# --- of several -----------------------------------------------------------------


def add_n(inputs: Sequence[Any], name: str | None = None) -> Any:
    """The sum of arrays of one shape.

    >>> import replax.compat.v2 as tf
    >>> tf.add_n([[1, 2], [3, 4]])
    Array([4, 6], dtype=int32)
    """
    del name
    if not isinstance(inputs, (list, tuple)) or not inputs:
        msg = f"add_n of {inputs!r}; give a list of at least one array"
        raise ValueError(msg)
    parts = tensors(inputs)
    if len({part.shape for part in parts}) > 1:
        shapes = ", ".join(str(part.shape) for part in parts)
        msg = f"add_n of the shapes {shapes}; give arrays of one shape"
        raise ValueError(msg)
    return another(functools.reduce(jnp.add, parts), *parts)


def clip_by_value(
    t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Any:
    """The value, but no less and no more than this.

    >>> import replax.compat.v2 as tf
    >>> tf.clip_by_value([1, 5, 9], 2, 6)
    Array([2, 5, 6], dtype=int32)
    """
    del name
    value, low, high = operands(t, clip_value_min, clip_value_max)
    return jnp.clip(value, low, high)
