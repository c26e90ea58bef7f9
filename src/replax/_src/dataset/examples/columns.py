"""The features of a batch, as arrays that are filled a few examples at a time."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from replax._src.dataset.examples.features import (
    FixedLenFeature,
    SparseValues,
    VarLenFeature,
)

__all__ = ["Column", "FixedColumn", "VarColumn", "new_column"]

Array = np.ndarray[Any, Any]
Rows = np.ndarray[Any, np.dtype[np.int64]]


def new_column(feature: FixedLenFeature | VarLenFeature, batch: int) -> Column:
    """The column of a feature in a batch of examples."""
    if isinstance(feature, FixedLenFeature):
        return FixedColumn(feature, batch)
    return VarColumn(feature, batch)


class Column(abc.ABC):
    """One feature of all examples of a batch.

    Attributes:
      dtype: The dtype of its values.
    """

    dtype: np.dtype[Any]

    @abc.abstractmethod
    def put(self, rows: Rows, counts: Rows, values: Array) -> None:
        """Sets the values of some examples.

        Args:
          rows: Which examples, ascending.
          counts: How many values each has.
          values: The values of one after the other.
        """

    @abc.abstractmethod
    def batch(self) -> Any:
        """The values of the batch."""

    @abc.abstractmethod
    def single(self) -> Any:
        """The values of a batch of one, without the axis of the batch."""


class FixedColumn(Column):
    """Equally many values in each example."""

    def __init__(self, feature: FixedLenFeature, batch: int) -> None:
        self.dtype = feature.dtype
        self._feature = feature
        self._batch = batch
        self._values: Array | None = None

    def put(self, rows: Rows, counts: Rows, values: Array) -> None:
        del counts  # the same for all
        shaped = values.reshape(len(rows), *self._feature.shape)
        if self._values is None and len(rows) == self._batch:
            self._values = shaped
        else:
            self._own()[rows] = shaped

    def put_default(self, rows: Rows) -> None:
        """Gives some examples the default."""
        self._own()[rows] = self._feature.default

    def batch(self) -> Any:
        return self._own()

    def single(self) -> Any:
        return self._own().reshape(self._feature.shape)

    def _own(self) -> Array:
        if self._values is None:
            shape = (self._batch, *self._feature.shape)
            self._values = np.empty(shape, self._feature.dtype)
        return self._values


class VarColumn(Column):
    """Any number of values in each example."""

    def __init__(self, feature: VarLenFeature, batch: int) -> None:
        self.dtype = feature.dtype
        self._batch = batch
        self._parts: list[tuple[Rows, Rows, Array]] = []

    def put(self, rows: Rows, counts: Rows, values: Array) -> None:
        self._parts.append((rows, counts, values))

    def batch(self) -> Any:
        owners, places, values, most = self._in_order()
        indices = np.stack([owners, places], axis=1)
        return SparseValues(indices, values, np.array([self._batch, most], np.int64))

    def single(self) -> Any:
        _, places, values, most = self._in_order()
        return SparseValues(places[:, None], values, np.array([most], np.int64))

    def _in_order(self) -> tuple[Rows, Rows, Array, int]:
        """Of each value the example, and which of its values it is."""
        counts = np.zeros(self._batch, np.int64)
        for rows, part, _ in self._parts:
            counts[rows] = part
        owners = np.repeat(np.arange(self._batch), counts)
        places = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        none: Array = np.empty(0, self.dtype)
        values = np.concatenate([none, *(values for *_, values in self._parts)])
        if len(self._parts) > 1:
            found = [np.repeat(rows, part) for rows, part, _ in self._parts]
            values = values[np.argsort(np.concatenate(found), kind="stable")]
        return owners, places, values, int(counts.max(initial=0))
