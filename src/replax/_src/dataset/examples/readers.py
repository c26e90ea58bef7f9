"""The layouts that are known of a program's examples."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from replax._src.dataset.examples.by_layout import JoinedRecords, LayoutReader
from replax._src.dataset.examples.columns import Column
from replax._src.dataset.examples.features import FixedLenFeature, VarLenFeature
from replax._src.dataset.examples.layout import learn_layout

__all__ = ["LayoutReaders", "readers_of"]

Features = Mapping[str, FixedLenFeature | VarLenFeature]
Rows = np.ndarray[Any, np.dtype[np.int64]]

# Fewer examples than these are quicker parsed by protobuf, one by one.
_WORTH_A_LAYOUT = 12
# A layout is kept if it is that of one in so many examples.
_WORTH_KEEPING = 8
_MOST_LAYOUTS = 8
# Writers that order the features of each example differently have no layouts to
# learn. That is noticed after so many attempts.
_MOST_FAILURES = 8
_LEARNED_IN_A_BATCH = 3


class LayoutReaders:
    """Reads what is of known layouts, and learns new ones.

    Args:
      features: What is wanted.
    """

    def __init__(self, features: Features) -> None:
        self._features = features
        # Replaced and never changed: several threads may parse at a time.
        self._known: tuple[LayoutReader, ...] = ()
        self._failures = 0

    def read(self, records: Sequence[bytes], columns: Mapping[str, Column]) -> Rows:
        """Puts the examples of one layout into the columns; the rows that are left."""
        rows = np.arange(len(records))
        if len(rows) < _WORTH_A_LAYOUT:
            return rows
        joined = JoinedRecords(records)
        for reader in self._known:
            before = len(rows)
            rows = reader.read(joined, rows, columns)
            if len(rows) < before:
                self._put_first(reader)
            if len(rows) < _WORTH_A_LAYOUT:
                return rows
        aside: list[int] = []  # what could not be learned from
        for _ in range(_LEARNED_IN_A_BATCH):
            if len(rows) < _WORTH_A_LAYOUT or self._gave_up():
                break
            layout = learn_layout(records[rows[0]])
            reader = None if layout is None else LayoutReader(layout, self._features)
            before = len(rows)
            if reader is not None and reader.suits:
                rows = reader.read(joined, rows, columns)
                if before - len(rows) >= before // _WORTH_KEEPING:
                    self._put_first(reader)
                    continue
            self._failures += 1
            if len(rows) == before:
                aside.append(int(rows[0]))
                rows = rows[1:]
        return np.sort(np.concatenate([rows, np.array(aside, np.int64)]))

    def _gave_up(self) -> bool:
        return self._failures >= _MOST_FAILURES or len(self._known) >= _MOST_LAYOUTS

    def _put_first(self, reader: LayoutReader) -> None:
        if not self._known or self._known[0] is not reader:
            others = [known for known in self._known if known is not reader]
            self._known = (reader, *others)


@functools.lru_cache(64)
def readers_of(
    features: tuple[tuple[str, FixedLenFeature | VarLenFeature], ...],
) -> LayoutReaders:
    """The readers of a program that wants these features."""
    return LayoutReaders(dict(features))
