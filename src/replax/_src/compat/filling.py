"""Arrays that are made from a shape: zeros, ones, numbers in a row."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from replax._src.compat.conversion import constant, convert_to_tensor, like
from replax._src.compat.dtypes import as_dtype, float32, int64, kind_of, string
from replax._src.core.specs import TensorShape

__all__ = [
    "eye",
    "fill",
    "one_hot",
    "ones",
    "ones_like",
    "range",
    "shape_of",
    "zeros",
    "zeros_like",
]


def zeros(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """An array of zeros; of empty strings for ``tf.string``.

    >>> import replax.compat.v2 as tf
    >>> tf.zeros([2])
    Array([0., 0.], dtype=float32)
    """
    del name
    dtype = as_dtype(dtype)
    return _filled(shape, b"" if dtype == string else 0, dtype)


def ones(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """An array of ones.

    >>> import replax.compat.v2 as tf
    >>> tf.ones([2], tf.int32)
    Array([1, 1], dtype=int32)
    """
    del name
    return _filled(shape, 1, as_dtype(dtype))


def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """An array that has one value everywhere.

    >>> import replax.compat.v2 as tf
    >>> tf.fill([2], 7)
    Array([7, 7], dtype=int32)
    """
    del name
    value = convert_to_tensor(value)
    if isinstance(value, np.ndarray):
        return convert_to_tensor(np.broadcast_to(value, shape_of(dims)))
    return jnp.broadcast_to(value, shape_of(dims))


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros in the shape and dtype of another value.

    >>> import replax.compat.v2 as tf
    >>> tf.zeros_like([1, 2])
    Array([0, 0], dtype=int32)
    """
    tensor = convert_to_tensor(input)
    return zeros(tensor.shape, tensor.dtype if dtype is None else dtype, name)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones in the shape and dtype of another value.

    >>> import replax.compat.v2 as tf
    >>> tf.ones_like([1.5, 2.5])
    Array([1., 1.], dtype=float32)
    """
    tensor = convert_to_tensor(input)
    return ones(tensor.shape, tensor.dtype if dtype is None else dtype, name)


def eye(
    num_rows: int,
    num_columns: int | None = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """The identity matrix.

    >>> import replax.compat.v2 as tf
    >>> tf.eye(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    del name
    return constant(np.eye(num_rows, num_columns, dtype=as_dtype(dtype)))


def one_hot(
    indices: Any,
    depth: int,
    on_value: Any = 1,
    off_value: Any = 0,
    axis: int = -1,
    dtype: Any = None,
) -> Any:
    """For each index a row with ``on_value`` at that place.

    >>> import replax.compat.v2 as tf
    >>> tf.one_hot([0, 2], 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    values = (on_value, off_value)
    if dtype is None and values == (1, 0) and not isinstance(on_value, bool):
        dtype = float32
    on, off = convert_to_tensor(on_value, dtype), convert_to_tensor(off_value, dtype)
    hot = jax.nn.one_hot(
        convert_to_tensor(indices), int(depth), dtype=np.bool_, axis=axis
    )
    return jnp.where(hot, on, like(off, on.dtype))


def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Numbers from ``start`` (or 0) up to ``limit``, which is left out.

    Args:
      start: The first number; with nothing else given, the limit.
      limit: Where to end.
      delta: From one number to the next.
      dtype: By default ``int32``, or the dtype of the arguments.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.range(3)
    Array([0, 1, 2], dtype=int32)
    >>> tf.range(2, 8, 3, dtype=tf.int64)
    Array([2, 5], dtype=int64)
    """
    del name
    if limit is None:
        start, limit = 0, start
    parts = [convert_to_tensor(part) for part in (start, limit, delta)]
    if dtype is None:
        dtype = max((part.dtype for part in parts), key=_generality)
    if any(isinstance(part, Tracer) for part in parts):
        return jnp.arange(*parts, dtype=as_dtype(dtype))  # which says what is wrong
    first, last, step = (np.asarray(part).item() for part in parts)
    return constant(np.arange(first, last, step, dtype=as_dtype(dtype)))


def shape_of(dims: Any) -> tuple[int, ...]:
    """The shape that a number, a list or an array describes."""
    if isinstance(dims, TensorShape):
        dims = dims.as_list()  # which refuses a shape of unknown rank
    if isinstance(dims, (jax.Array, np.ndarray)):
        return tuple(np.asarray(dims).reshape(-1).tolist())
    sizes: list[Any] = list(dims) if isinstance(dims, (list, tuple)) else [dims]
    return tuple(operator.index(n) for n in sizes)


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    if dtype == string:
        return convert_to_tensor(np.full(shape_of(shape), value, object))
    with jax.ensure_compile_time_eval():
        return jnp.full(shape_of(shape), value, dtype)


def _generality(dtype: Any) -> tuple[int, bool]:
    return (kind_of(dtype), dtype in (int64, np.float64))
