"""Parsing examples one by one, by protobuf: whatever their bytes look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.examples.columns import Column, FixedColumn
from replax._src.dataset.examples.features import (
    FixedLenFeature,
    VarLenFeature,
    name_of_dtype,
)
from replax._src.dataset.examples.message import example_class

__all__ = ["read_messages"]

Features = Mapping[str, FixedLenFeature | VarLenFeature]

_LISTS = {"O": "bytes_list", "f": "float_list", "i": "int64_list"}
_NAMES = {"bytes_list": "string", "float_list": "float32", "int64_list": "int64"}


def read_messages(
    records: Sequence[bytes],
    rows: np.ndarray[Any, np.dtype[np.int64]],
    where: str,
    features: Features,
    columns: Mapping[str, Column],
) -> None:
    """Puts some examples of a batch into the columns.

    Args:
      records: The batch.
      rows: Which of them to read.
      where: How to call one in an error, ``{}`` being its row.
      features: What is wanted.
      columns: Where to put the values.
    """
    cells = [_Cells(name, feature, where) for name, feature in features.items()]
    for row in rows.tolist():
        entries = _message(records[row], where.format(row)).features.feature
        for cell in cells:
            cell.add(row, entries)
    for cell in cells:
        cell.put(columns[cell.name])


def _message(record: bytes, where: str) -> Any:
    # Imported where the first message is parsed, so that `import replax` is quick.
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    try:
        return example_class().FromString(record)
    except DecodeError as error:
        msg = (
            f"{where} is no serialized tf.train.Example: its {len(record)} bytes "
            f"{record[:20]!r}... cannot be parsed ({error}); write it with "
            f"serialize_example, and read it from a TFRecord file"
        )
        raise InvalidArgumentError(msg) from None


class _Cells:
    """The values of one feature, of the examples that have it."""

    def __init__(
        self, name: str, feature: FixedLenFeature | VarLenFeature, where: str
    ) -> None:
        self.name = name
        self._feature = feature
        self._where = where
        self._list = _LISTS[feature.dtype.kind]
        self._size = feature.size if isinstance(feature, FixedLenFeature) else None
        self._rows: list[int] = []
        self._counts: list[int] = []
        self._values: list[Any] = []
        self._without: list[int] = []

    def add(self, row: int, entries: Any) -> None:
        """Adds the values of one example."""
        feature = self._feature
        entry = entries.get(self.name)
        kind = None if entry is None else entry.WhichOneof("kind")
        if kind is None:
            self._without.append(row)
            if isinstance(feature, FixedLenFeature) and feature.default is None:
                self._missing(row, entries)
            return
        if kind != self._list:
            self._wrong_dtype(row, kind)
        values = getattr(entry, kind).value
        count = len(values)
        if self._size is not None and count != self._size:
            self._wrong_count(row, count)
        self._rows.append(row)
        self._counts.append(count)
        self._values += values

    def put(self, column: Column) -> None:
        """Puts all of them into the column."""
        if self._without and isinstance(column, FixedColumn):
            column.put_default(np.array(self._without))
        if self._rows:
            values = np.empty(len(self._values), column.dtype)
            values[:] = self._values
            column.put(np.array(self._rows), np.array(self._counts), values)

    def _missing(self, row: int, entries: Any) -> NoReturn:
        known = ", ".join(repr(key) for key in sorted(entries)[:20]) or "none"
        msg = (
            f"{self._where.format(row)} has no feature {self.name!r}, which a "
            f"FixedLenFeature without a default needs (its features: {known}); give it "
            f"a default_value, or write VarLenFeature(dtype)"
        )
        raise InvalidArgumentError(msg)

    def _wrong_dtype(self, row: int, kind: str) -> NoReturn:
        msg = (
            f"the feature {self.name!r} of {self._where.format(row)} holds "
            f"{_NAMES[kind]} values, and {type(self._feature).__name__} asks for "
            f"{name_of_dtype(self._feature.dtype)}; ask for {_NAMES[kind]}, and cast "
            f"what is parsed"
        )
        raise InvalidArgumentError(msg)

    def _wrong_count(self, row: int, count: int) -> NoReturn:
        assert isinstance(self._feature, FixedLenFeature)
        msg = (
            f"the feature {self.name!r} of {self._where.format(row)} has {count} "
            f"values, and the shape {list(self._feature.shape)} of its FixedLenFeature "
            f"has {self._size}; write the shape that the examples have, or "
            f"VarLenFeature(dtype)"
        )
        raise InvalidArgumentError(msg)
