"""Picking elements out of arrays."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from replax._src.compat.conversion import convert_to_tensor, operands
from replax._src.compat.dtypes import bool_, int64
from replax._src.core.errors import InvalidArgumentError

__all__ = ["boolean_mask", "gather", "newaxis", "where"]

# An axis of length 1, among the indices of an array.
newaxis = None


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: int | None = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """The elements at these places.

    Args:
      params: Where to take them from.
      indices: Their places along ``axis``, counted from 0. While tracing they cannot
        be checked; the nearest element there is stands for one that is not there.
      validate_indices: Taken for TensorFlow's sake; indices are always checked.
      axis: Along which dimension; by default the first.
      batch_dims: How many leading dimensions the two have in common; only 0 here.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.gather([10, 20, 30], [2, 0])
    Array([30, 10], dtype=int32)
    """
    del validate_indices, name
    if batch_dims:
        msg = f"gather with batch_dims={batch_dims}; use jax.numpy.take_along_axis"
        raise NotImplementedError(msg)
    array, places = convert_to_tensor(params), convert_to_tensor(indices)
    axis = 0 if axis is None else int(axis)
    length = array.shape[axis]
    if not isinstance(places, Tracer):
        wrong = [int(i) for i in np.asarray(places).reshape(-1) if not 0 <= i < length]
        if wrong:
            msg = (
                f"gather of the index {wrong[0]} along axis {axis}, whose length is "
                f"{length}; indices are counted from 0"
            )
            raise InvalidArgumentError(msg)
    if isinstance(array, np.ndarray):
        return convert_to_tensor(np.take(array, np.asarray(places), axis))
    return jnp.take(array, places, axis, mode="clip")


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Elements of x where the condition holds, and of y elsewhere.

    With a condition alone: the places where it holds, a row each. As many rows as
    that are not known while tracing.

    >>> import replax.compat.v2 as tf
    >>> tf.where([True, False], 1, 2)
    Array([1, 2], dtype=int32)
    >>> tf.where([False, True])
    Array([[1]], dtype=int64)
    """
    del name
    holds = convert_to_tensor(condition)
    if (x is None) != (y is None):
        msg = "where was given one of x and y; give both, or neither"
        raise ValueError(msg)
    if x is None:
        return jnp.argwhere(holds).astype(int64)
    a, b = operands(x, y)
    if isinstance(a, np.ndarray):
        return convert_to_tensor(np.where(np.asarray(holds), a, b))
    return jnp.where(holds, a, b)


def boolean_mask(tensor: Any, mask: Any, axis: int = 0, name: str = "mask") -> Any:
    """The elements for which the mask is True.

    >>> import replax.compat.v2 as tf
    >>> tf.boolean_mask([1, 2, 3], [True, False, True])
    Array([1, 3], dtype=int32)
    """
    del name
    array, kept = convert_to_tensor(tensor), convert_to_tensor(mask)
    if kept.dtype != bool_:
        msg = f"boolean_mask with a mask of {kept.dtype.name}; it has to be of booleans"
        raise TypeError(msg)
    return array[(slice(None),) * axis + (kept,)]
