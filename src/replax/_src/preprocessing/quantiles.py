"""Quantiles of data that is seen once, batch by batch, in little memory.

A summary is a few values with the number of data that each stands for. It is made, read
and brought together with others as Keras does it, so that boundaries are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Quantiles"]


class Quantiles:
    """What a discretization learns from data.

    Args:
      tolerance: How far, as a part of all data, a boundary may be from its quantile.
    """

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._summary = np.zeros((2, 0), np.float32)

    def add(self, values: np.ndarray) -> None:
        """Takes a batch into account."""
        values = np.sort(values.astype(np.float32), axis=None)
        step = max(values.size * self._tolerance, 1)
        kept = values[int(step - 1) :: int(step)]
        self.merge(np.stack([kept, np.ones_like(kept) * step]))

    def merge(self, state: Any) -> None:
        """Takes another summary into account."""
        merged = np.concatenate([np.asarray(state), self._summary], axis=1)
        merged = merged[:, np.argsort(merged[0])]
        self._summary = _compressed(merged, self._tolerance)

    def state(self) -> np.ndarray:
        """The summary, for :meth:`merge` in another process."""
        return self._summary

    @property
    def is_empty(self) -> bool:
        """Whether there was no data."""
        return self._summary.shape[1] == 0

    def boundaries(self, count: int) -> list[float]:
        """Values that part the data into ``count`` ranges of about equal size."""
        return _compressed(self._summary, 1.0 / count)[0, :-1].tolist()


def _compressed(summary: np.ndarray, tolerance: float) -> np.ndarray:
    if summary.shape[1] * tolerance < 1:
        return summary
    parts = tolerance + np.arange(0.0, 1.0, tolerance)
    weights = summary[1].cumsum()
    shares = weights / weights[-1]
    values = np.interp(parts, shares, summary[0])
    ends = np.interp(parts, shares, weights)
    return np.stack([values, np.diff(ends, prepend=0)]).astype(np.float32)
