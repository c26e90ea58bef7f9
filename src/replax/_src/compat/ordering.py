"""Elements in their order: sorted, the greatest ones, each kind once."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dtypes import as_dtype, int32

__all__ = ["argsort", "sort", "top_k", "unique", "unique_with_counts"]


class TopK(NamedTuple):
    """The greatest elements, and where they are."""

    values: Any
    indices: Any


class Unique(NamedTuple):
    """Elements without repetition, and which of them each one is."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """The same, and how often each of them is there."""

    y: Any
    idx: Any
    count: Any


def sort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Any:
    """The elements in order along a dimension.

    Args:
      values: What to sort.
      axis: The dimension.
      direction: ``"ASCENDING"`` or ``"DESCENDING"``.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.sort([3, 1, 2])
    Array([1, 2, 3], dtype=int32)
    """
    del name
    return jnp.sort(
        convert_to_tensor(values), int(axis), descending=_descending(direction)
    )


def argsort(
    values: Any,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Any:
    """Where the elements that :func:`sort` gives are; always stable.

    >>> import replax.compat.v2 as tf
    >>> tf.argsort([3, 1, 2])
    Array([1, 2, 0], dtype=int32)
    """
    del stable, name
    places = jnp.argsort(
        convert_to_tensor(values), int(axis), descending=_descending(direction)
    )
    return places.astype(int32)


def top_k(
    input: Any,
    k: int = 1,
    sorted: bool = True,
    index_type: Any = int32,
    name: str | None = None,
) -> TopK:
    """The ``k`` greatest elements of each row, and where they are in it.

    >>> import replax.compat.v2 as tf
    >>> tf.math.top_k([1, 5, 3], k=2).values
    Array([5, 3], dtype=int32)
    """
    del sorted, name
    values, places = jax.lax.top_k(convert_to_tensor(input), int(k))
    return TopK(values, places.astype(as_dtype(index_type)))


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Unique:
    """The elements without repetition, in the order in which they come first.

    How many they are is not known while tracing, so a compiled function runs as
    Python.

    >>> import replax.compat.v2 as tf
    >>> tf.unique([5, 1, 5]).y
    Array([5, 1], dtype=int32)
    """
    return Unique(*unique_with_counts(x, out_idx, name)[:2])


def unique_with_counts(
    x: Any, out_idx: Any = int32, name: str | None = None
) -> UniqueWithCounts:
    """The same as :func:`unique`, and how often each of them is there.

    >>> import replax.compat.v2 as tf
    >>> tf.unique_with_counts([5, 1, 5]).count
    Array([2, 1], dtype=int32)
    """
    del name
    array = np.asarray(convert_to_tensor(x))
    _, first, which, counts = np.unique(
        array, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)
    numbers = np.empty_like(order)
    numbers[order] = np.arange(len(order))
    dtype = as_dtype(out_idx)
    return UniqueWithCounts(
        convert_to_tensor(array[first[order]]),
        convert_to_tensor(numbers[which].astype(dtype)),
        convert_to_tensor(counts[order].astype(dtype)),
    )


def _descending(direction: str) -> bool:
    if direction not in {"ASCENDING", "DESCENDING"}:
        msg = f"direction is {direction!r}; give 'ASCENDING' or 'DESCENDING'"
        raise ValueError(msg)
    return direction == "DESCENDING"
