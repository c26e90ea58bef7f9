"""Shapes of arrays: asking for them, changing them, putting arrays together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import another, convert_to_tensor, tensors
from replax._src.compat.dtypes import as_dtype, int32
from replax._src.compat.filling import shape_of
from replax._src.core import jax_compat

__all__ = [
    "broadcast_to",
    "concat",
    "expand_dims",
    "rank",
    "reshape",
    "reverse",
    "shape",
    "size",
    "split",
    "squeeze",
    "stack",
    "tile",
    "transpose",
    "unstack",
]


# --- asking ---------------------------------------------------------------------


def shape(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """The lengths of the dimensions, as an array.

    >>> import replax.compat.v2 as tf
    >>> tf.shape([[1, 2, 3]])
    Array([1, 3], dtype=int32)
    """
    del name
    return _known(convert_to_tensor(input).shape, out_type)


def size(input: Any, out_type: Any = int32, name: str | None = None) -> Any:
    """The number of elements.

    >>> import replax.compat.v2 as tf
    >>> tf.size([[1, 2, 3]], out_type=tf.int64)
    Array(3, dtype=int64)
    """
    del name
    return _known(convert_to_tensor(input).size, out_type)


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions.

    >>> import replax.compat.v2 as tf
    >>> tf.rank([[1, 2, 3]])
    Array(2, dtype=int32)
    """
    del name
    return _known(convert_to_tensor(input).ndim, int32)


def _known(value: Any, dtype: Any) -> Any:
    """A number that is known while tracing, so that parts of it are known too."""
    array = np.asarray(value, as_dtype(dtype))
    return array[()] if jax_compat.is_staging() else convert_to_tensor(array)


# --- changing -------------------------------------------------------------------


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape; one length may be -1, for what is left.

    >>> import replax.compat.v2 as tf
    >>> tf.reshape([1, 2, 3, 4], [2, -1])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    """
    del name
    array = convert_to_tensor(tensor)
    return another(array.reshape(shape_of(shape)), array)


def transpose(
    a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None
) -> Any:
    """The dimensions in another order; by default the other way round.

    >>> import replax.compat.v2 as tf
    >>> tf.transpose([[1, 2], [3, 4]])
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    del name
    array = convert_to_tensor(a)
    turned = array.transpose(None if perm is None else shape_of(perm))
    return another(jnp.conj(turned) if conjugate else turned, array)


def expand_dims(input: Any, axis: int, name: str | None = None) -> Any:
    """The array with one more dimension, of length 1.

    >>> import replax.compat.v2 as tf
    >>> tf.expand_dims([1, 2], -1)
    Array([[1],
           [2]], dtype=int32)
    """
    del name
    array = convert_to_tensor(input)
    return _numpy_for(array).expand_dims(array, int(axis))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """The array without some, or all, dimensions of length 1.

    >>> import replax.compat.v2 as tf
    >>> tf.squeeze([[[1, 2]]], axis=0)
    Array([[1, 2]], dtype=int32)
    """
    del name
    array = convert_to_tensor(input)
    axes = None if axis is None or axis == [] else shape_of(axis)
    return another(_numpy_for(array).squeeze(array, axes), array)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The array several times after itself, along each dimension.

    >>> import replax.compat.v2 as tf
    >>> tf.tile([1, 2], [2])
    Array([1, 2, 1, 2], dtype=int32)
    """
    del name
    array = convert_to_tensor(input)
    return _numpy_for(array).tile(array, shape_of(multiples))


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The array repeated until it has this shape.

    >>> import replax.compat.v2 as tf
    >>> tf.broadcast_to([1, 2], [2, 2])
    Array([[1, 2],
           [1, 2]], dtype=int32)
    """
    del name
    array = convert_to_tensor(input)
    spread = _numpy_for(array).broadcast_to(array, shape_of(shape))
    return another(convert_to_tensor(spread), array)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The array the other way round along some dimensions.

    >>> import replax.compat.v2 as tf
    >>> tf.reverse([1, 2, 3], axis=[0])
    Array([3, 2, 1], dtype=int32)
    """
    del name
    array = convert_to_tensor(tensor)
    return _numpy_for(array).flip(array, shape_of(axis))


# --- putting together, taking apart ---------------------------------------------


def stack(values: Sequence[Any], axis: int = 0, name: str = "stack") -> Any:
    """Arrays of one shape along a new dimension.

    >>> import replax.compat.v2 as tf
    >>> tf.stack([[1, 2], [3, 4]], axis=1)
    Array([[1, 3],
           [2, 4]], dtype=int32)
    """
    del name
    parts = tensors(_listed(values, "stack"))
    return convert_to_tensor(_numpy_for(parts[0]).stack(parts, int(axis)))


def concat(values: Sequence[Any], axis: int, name: str = "concat") -> Any:
    """Arrays one after the other along a dimension that they have.

    >>> import replax.compat.v2 as tf
    >>> tf.concat([[1, 2], [3]], axis=0)
    Array([1, 2, 3], dtype=int32)
    """
    del name
    parts = tensors(_listed(values, "concat"))
    return another(_numpy_for(parts[0]).concatenate(parts, int(axis)), *parts)


def unstack(
    value: Any, num: int | None = None, axis: int = 0, name: str = "unstack"
) -> list[Any]:
    """The parts of an array along a dimension, without that dimension.

    >>> import replax.compat.v2 as tf
    >>> tf.unstack([[1, 2], [3, 4]])
    [Array([1, 2], dtype=int32), Array([3, 4], dtype=int32)]
    """
    del name
    array = convert_to_tensor(value)
    length = array.shape[axis]
    if num is not None and num != length:
        msg = f"unstack into num={num} along axis {axis}, whose length is {length}"
        raise ValueError(msg)
    return list(_numpy_for(array).moveaxis(array, axis, 0))


def split(
    value: Any,
    num_or_size_splits: Any,
    axis: int = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Any]:
    """The array in pieces: so many equal ones, or ones of these lengths.

    >>> import replax.compat.v2 as tf
    >>> tf.split([1, 2, 3], [1, 2])
    [Array([1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    del num, name
    array = convert_to_tensor(value)
    pieces = np.asarray(num_or_size_splits)
    if pieces.ndim == 0:
        return _numpy_for(array).split(array, int(pieces), axis)
    sizes = [int(n) for n in pieces]
    length = array.shape[axis]
    if -1 in sizes:
        sizes[sizes.index(-1)] = length - sum(n for n in sizes if n != -1)
    if sum(sizes) != length or min(sizes) < 0:
        msg = (
            f"split into pieces of {num_or_size_splits} along axis {axis}, whose "
            f"length is {length}; one length may be -1, for what is left"
        )
        raise ValueError(msg)
    ends = np.cumsum(sizes)[:-1].tolist()
    return _numpy_for(array).split(array, ends, axis)


def _listed(values: Any, what: str) -> Sequence[Any]:
    parts = values if isinstance(values, (list, tuple)) else list(values)
    if not parts:
        msg = f"{what} of {values!r}; give at least one array"
        raise ValueError(msg)
    return parts


def _numpy_for(array: Any) -> Any:
    """NumPy for strings, jax.numpy for the rest."""
    return np if isinstance(array, np.ndarray) else jnp
