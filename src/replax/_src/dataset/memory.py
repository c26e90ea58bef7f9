"""Memory that the library has allocated for elements, and whose else it may be.

Devices that compute in the memory of the host can use an array where it lies, if it is
aligned and nobody ever writes to it. So arrays that are gathered lie in memory of a
kind of its own, which knows whether anybody was given it who could write to it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["gathered", "give_away", "owned"]

# What XLA wants of memory that it is to use where it lies.
_ALIGNMENT = 64


class _Memory(np.ndarray):
    """The bytes of one array; all views of it have this at the end of their bases.

    Attributes:
      is_given_away: Whether somebody else may write to it, or read what is written.
    """

    is_given_away = False


def _allocated(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An array in new memory, with whatever values."""
    size = math.prod(shape) * dtype.itemsize
    memory = _Memory((size + _ALIGNMENT,), np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    return np.ndarray(shape, dtype, memory, start)


def gathered(column: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The rows of an array with these numbers, in memory of their own."""
    if column.dtype.hasobject:
        return column.take(index, 0)
    # Without a mode rows are gathered elsewhere first. Negative numbers are large here.
    if len(index) and index.astype(np.uint64, copy=False).max() >= len(column):
        msg = f"{index} are not all numbers of {len(column)} rows"
        raise IndexError(msg)
    rows = _allocated((len(index), *column.shape[1:]), column.dtype)
    return column.take(index, 0, out=rows, mode="clip")


def owned(array: np.ndarray) -> np.ndarray:
    """The array if nobody else can have it, else a copy."""
    memory = _memory_of(array)
    if memory is not None and not memory.is_given_away:
        return array
    copy = _allocated(array.shape, array.dtype)
    np.copyto(copy, array)
    return copy


def give_away(value: Any) -> None:
    """Tells that somebody else has an array from now on, and may keep it."""
    memory = _memory_of(value)
    if memory is not None:
        memory.is_given_away = True


def _memory_of(array: Any) -> _Memory | None:
    while isinstance(array, np.ndarray):
        if isinstance(array, _Memory):
            return array
        array = array.base
    return None
