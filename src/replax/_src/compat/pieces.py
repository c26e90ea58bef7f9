"""Parts of arrays, and arrays filled up: slices, paddings, repetitions, masks."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import convert_to_tensor, operands
from replax._src.compat.dtypes import as_dtype, bool_, kind_of
from replax._src.compat.filling import shape_of

__all__ = [
    "gather_nd",
    "linspace",
    "pad",
    "repeat",
    "roll",
    "sequence_mask",
    "slice",
]


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """The part of an array that begins somewhere and has some size.

    Args:
      input_: The array.
      begin: Where the part begins along each dimension.
      size: How long it is along each; -1 for all that is left.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.slice([1, 2, 3, 4], [1], [2])
    Array([2, 3], dtype=int32)
    """
    del name
    array = convert_to_tensor(input_)
    bounds = zip(shape_of(begin), shape_of(size), strict=True)
    return array[tuple(_range(start, length) for start, length in bounds)]


def _range(start: int, length: int) -> Any:
    return np.s_[start : None if length == -1 else start + length]


def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None
) -> Any:
    """The elements, or parts, at places that are given by several indices.

    >>> import replax.compat.v2 as tf
    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    Array([2, 3], dtype=int32)
    """
    del name
    if batch_dims:
        msg = f"gather_nd with batch_dims={batch_dims}; use jax.vmap for that"
        raise NotImplementedError(msg)
    array, places = convert_to_tensor(params), convert_to_tensor(indices)
    return array[tuple(jnp.moveaxis(places, -1, 0))]


def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Any:
    """The array with more elements around it.

    Args:
      tensor: The array.
      paddings: For each dimension how many come before it and how many after.
      mode: ``"CONSTANT"``, ``"REFLECT"`` or ``"SYMMETRIC"``.
      constant_values: What constant elements are.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.pad([1, 2], [[1, 2]])
    Array([0, 1, 2, 0, 0], dtype=int32)
    """
    del name
    widths = np.asarray(convert_to_tensor(paddings)).tolist()
    how = mode.lower()
    if how == "constant":
        array, filling = operands(tensor, constant_values)
        return jnp.pad(array, widths, constant_values=filling)
    return jnp.pad(convert_to_tensor(tensor), widths, mode=how)


def repeat(
    input: Any, repeats: Any, axis: int | None = None, name: str | None = None
) -> Any:
    """Each element several times; by default of all dimensions in a row.

    >>> import replax.compat.v2 as tf
    >>> tf.repeat([1, 2], 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    del name
    array = convert_to_tensor(input)
    times = np.asarray(convert_to_tensor(repeats))
    if isinstance(array, np.ndarray):
        return convert_to_tensor(np.repeat(array, times, axis))
    return jnp.repeat(array, times, axis)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """The elements moved along dimensions; what goes out at one end comes in again.

    >>> import replax.compat.v2 as tf
    >>> tf.roll([1, 2, 3], shift=1, axis=0)
    Array([3, 1, 2], dtype=int32)
    """
    del name
    return jnp.roll(convert_to_tensor(input), shape_of(shift), shape_of(axis))


def linspace(
    start: Any, stop: Any, num: int, name: str | None = None, axis: int = 0
) -> Any:
    """Numbers from one to another, both of them included, at equal distances.

    >>> import replax.compat.v2 as tf
    >>> tf.linspace(0.0, 1.0, 3)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    del name
    first, last = operands(start, stop)
    if kind_of(first.dtype) == 1:
        first, last = first.astype(np.float64), last.astype(np.float64)
    return jnp.linspace(first, last, int(num), axis=axis, dtype=first.dtype)


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None
) -> Any:
    """For each length a row in which as many first elements are True.

    >>> import replax.compat.v2 as tf
    >>> tf.sequence_mask([1, 2], 3, tf.int32)
    Array([[1, 0, 0],
           [1, 1, 0]], dtype=int32)
    """
    del name
    array = convert_to_tensor(lengths)
    longest = int(np.max(np.asarray(array))) if maxlen is None else int(maxlen)
    return (jnp.arange(longest) < array[..., None]).astype(as_dtype(dtype))
