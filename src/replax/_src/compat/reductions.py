"""Bringing the elements of one array together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dtypes import as_dtype, bool_, int64, kind_of

__all__ = [
    "argmax",
    "argmin",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_std",
    "reduce_sum",
    "reduce_variance",
]


def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The sum, in the dtype of the elements.

    Args:
      input_tensor: What to sum up.
      axis: Along which dimensions, one or a list; by default all.
      keepdims: Whether these dimensions stay, with length 1.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=1)
    Array([3, 7], dtype=int32)
    """
    del name
    x = _numbers(input_tensor, "reduce_sum")
    return jnp.sum(x, _axes(axis), dtype=x.dtype, keepdims=keepdims)


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The product; see :func:`reduce_sum`.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_prod([2, 3])
    Array(6, dtype=int32)
    """
    del name
    x = _numbers(input_tensor, "reduce_prod")
    return jnp.prod(x, _axes(axis), dtype=x.dtype, keepdims=keepdims)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean; of whole numbers it is a whole number, without its fraction.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_mean([1.0, 2.0])
    Array(1.5, dtype=float32)
    >>> tf.reduce_mean([1, 2])
    Array(1, dtype=int32)
    """
    del name
    x = _numbers(input_tensor, "reduce_mean")
    axes = _axes(axis)
    if kind_of(x.dtype) > kind_of(np.int32):
        return jnp.mean(x, axes, keepdims=keepdims)
    total = jnp.sum(x, axes, dtype=x.dtype, keepdims=keepdims)
    count = max(x.size // max(total.size, 1), 1)
    return jax.lax.div(total, jnp.asarray(count, x.dtype))


def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The greatest element; of none, the least number that there is.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_max([[1, 5], [3, 4]], axis=0)
    Array([3, 5], dtype=int32)
    """
    del name
    x = _numbers(input_tensor, "reduce_max")
    least = -np.inf if kind_of(x.dtype) > 1 else jnp.iinfo(x.dtype).min
    return jnp.max(x, _axes(axis), keepdims=keepdims, initial=least)


def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The least element; of none, the greatest number that there is.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_min([[1, 5], [3, 4]], axis=0)
    Array([1, 4], dtype=int32)
    """
    del name
    x = _numbers(input_tensor, "reduce_min")
    greatest = np.inf if kind_of(x.dtype) > 1 else jnp.iinfo(x.dtype).max
    return jnp.min(x, _axes(axis), keepdims=keepdims, initial=greatest)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether any element is True.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_any([True, False])
    Array(True, dtype=bool)
    """
    del name
    return jnp.any(_booleans(input_tensor), _axes(axis), keepdims=keepdims)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Whether all elements are True.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_all([True, False])
    Array(False, dtype=bool)
    """
    del name
    return jnp.all(_booleans(input_tensor), _axes(axis), keepdims=keepdims)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean of the squared distances from the mean.

    >>> import replax.compat.v2 as tf
    >>> tf.math.reduce_variance([1.0, 3.0])
    Array(1., dtype=float32)
    """
    del name
    x = _reals(input_tensor, "reduce_variance")
    return jnp.var(x, _axes(axis), keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the variance.

    >>> import replax.compat.v2 as tf
    >>> tf.math.reduce_std([1.0, 3.0])
    Array(1., dtype=float32)
    """
    del name
    x = _reals(input_tensor, "reduce_std")
    return jnp.std(x, _axes(axis), keepdims=keepdims)


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The logarithm of the sum of the exponentials.

    >>> import replax.compat.v2 as tf
    >>> tf.reduce_logsumexp([0.0])
    Array(0., dtype=float32)
    """
    del name
    x = _reals(input_tensor, "reduce_logsumexp")
    return jax.nn.logsumexp(x, _axes(axis), keepdims=keepdims)


def cumsum(
    x: Any,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The sums of the elements so far.

    Args:
      x: What to sum up.
      axis: Along which dimension.
      exclusive: Whether an element's own value is left out of its sum.
      reverse: Whether to begin at the end.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.cumsum([1, 2, 3])
    Array([1, 3, 6], dtype=int32)
    """
    del name
    array = _numbers(x, "cumsum")
    turned = jnp.flip(array, axis) if reverse else array
    sums = jnp.cumsum(turned, axis, dtype=array.dtype)
    sums = sums - turned if exclusive else sums
    return jnp.flip(sums, axis) if reverse else sums


def cumprod(
    x: Any,
    axis: int = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The products of the elements so far; see :func:`cumsum`.

    >>> import replax.compat.v2 as tf
    >>> tf.math.cumprod([1, 2, 3], exclusive=True)
    Array([1, 1, 2], dtype=int32)
    """
    del name
    array = _numbers(x, "cumprod")
    turned = jnp.flip(array, axis) if reverse else array
    if exclusive:
        one = jnp.ones_like(jax.lax.slice_in_dim(turned, 0, 1, axis=axis))
        rest = jax.lax.slice_in_dim(turned, 0, turned.shape[axis] - 1, axis=axis)
        turned = jnp.concatenate([one, rest], axis)
    made = jnp.cumprod(turned, axis, dtype=array.dtype)
    return jnp.flip(made, axis) if reverse else made


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = int64,
    name: str | None = None,
) -> Any:
    """How many elements are not 0.

    >>> import replax.compat.v2 as tf
    >>> tf.math.count_nonzero([0, 1, 2])
    Array(2, dtype=int64)
    """
    del name
    is_there = convert_to_tensor(input) != 0
    return jnp.sum(is_there, _axes(axis), as_dtype(dtype), keepdims=bool(keepdims))


def argmax(
    input: Any,
    axis: int | None = None,
    output_type: Any = int64,
    name: str | None = None,
) -> Any:
    """Where along a dimension, by default the first, the greatest element is.

    >>> import replax.compat.v2 as tf
    >>> tf.argmax([1, 3, 2])
    Array(1, dtype=int64)
    """
    return _position(jnp.argmax, input, axis, output_type, name)


def argmin(
    input: Any,
    axis: int | None = None,
    output_type: Any = int64,
    name: str | None = None,
) -> Any:
    """Where along a dimension, by default the first, the least element is.

    >>> import replax.compat.v2 as tf
    >>> tf.argmin([1, 3, 2])
    Array(0, dtype=int64)
    """
    return _position(jnp.argmin, input, axis, output_type, name)


def _position(
    function: Callable[[Any, int], Any],
    value: Any,
    axis: int | None,
    output_type: Any,
    name: str | None,
) -> Any:
    del name
    found = function(convert_to_tensor(value), 0 if axis is None else int(axis))
    return found.astype(as_dtype(output_type))


def _axes(axis: Any) -> Any:
    if axis is None or isinstance(axis, int):
        return axis
    return tuple(int(n) for n in np.asarray(axis).reshape(-1))


def _numbers(value: Any, what: str) -> Any:
    array = convert_to_tensor(value)
    if isinstance(array, np.ndarray) or array.dtype == bool_:
        kind = "booleans" if array.dtype == bool_ else "strings"
        msg = f"{what} of {kind}; it takes numbers: tf.cast makes them of booleans"
        raise TypeError(msg)
    return array


def _reals(value: Any, what: str) -> Any:
    array = _numbers(value, what)
    if kind_of(array.dtype) <= kind_of(np.int32):
        msg = f"{what} of {array.dtype.name}; convert it with tf.cast(x, tf.float32)"
        raise TypeError(msg)
    return array


def _booleans(value: Any) -> Any:
    array = convert_to_tensor(value)
    if array.dtype != bool_:
        msg = (
            f"reduce_any and reduce_all take booleans, and this has dtype "
            f"{array.dtype.name}; compare it with something first: x != 0"
        )
        raise TypeError(msg)
    return array
