"""Means and variances of data that is seen once, batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Moments"]


class Moments:
    """What a normalization learns from data, with 64 bits.

    Args:
      kept: The axes that have a mean for each index; all others are averaged over.
    """

    def __init__(self, kept: tuple[int, ...]) -> None:
        self._kept = kept
        self._count = 0
        self._mean: Any = 0.0
        # The sum of the squared distances from the mean.
        self._spread: Any = 0.0

    def add(self, values: np.ndarray) -> None:
        """Takes a batch into account."""
        over = tuple(d for d in range(values.ndim) if d not in self._kept)
        count = int(np.prod([values.shape[d] for d in over], dtype=np.int64))
        if not count:
            return
        mean = values.mean(axis=over, dtype=np.float64)
        spread = values.var(axis=over, dtype=np.float64) * count
        self.merge((count, mean, spread))

    def merge(self, state: Any) -> None:
        """Takes what was learned elsewhere into account."""
        count, mean, spread = state
        if not count:
            return
        total = self._count + count
        away = mean - self._mean
        self._mean = self._mean + away * (count / total)
        self._spread = self._spread + spread + away**2 * (self._count * count / total)
        self._count = total

    def state(self) -> Any:
        """What was learned, for :meth:`merge` in another process."""
        return self._count, self._mean, self._spread

    @property
    def is_empty(self) -> bool:
        """Whether there was no data."""
        return not self._count

    @property
    def mean(self) -> np.ndarray:
        """The mean of all data."""
        return np.asarray(self._mean, np.float64)

    @property
    def variance(self) -> np.ndarray:
        """The variance of all data."""
        return np.asarray(self._spread / max(self._count, 1), np.float64)
