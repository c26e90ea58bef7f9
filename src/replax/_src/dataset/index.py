"""Arithmetic on the numbers of elements: on ranges as they are, on arrays in NumPy."""

from __future__ import annotations

import numpy as np

from replax._src.dataset.block import Index

__all__ = ["as_array", "looked_up", "scaled", "shifted"]


def shifted(index: Index, by: int) -> Index:
    """Every number plus ``by``."""
    if isinstance(index, range):
        return range(index.start + by, index.stop + by, index.step)
    return index + by


def scaled(index: Index, by: int) -> Index:
    """Every number times ``by``."""
    if isinstance(index, range):
        return range(index.start * by, index.stop * by, index.step * by)
    return index * by


def as_array(index: Index) -> np.ndarray:
    """The numbers in an array."""
    if isinstance(index, range):
        return np.arange(index.start, index.stop, index.step)
    return index


def looked_up(order: np.ndarray, index: Index) -> np.ndarray:
    """The numbers that stand in ``order`` at these places."""
    if isinstance(index, range):
        return order[index.start : index.stop : index.step]
    return order[index]
