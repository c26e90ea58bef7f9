"""Parsing many examples of one layout at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from replax._src.dataset.examples.columns import Column, FixedColumn
from replax._src.dataset.examples.features import FixedLenFeature, VarLenFeature
from replax._src.dataset.examples.layout import LONGEST_RUN, Layout, Run, Slot
from replax._src.dataset.examples.varints import decode_varints

__all__ = ["JoinedRecords", "LayoutReader"]

Features = Mapping[str, FixedLenFeature | VarLenFeature]
Array = np.ndarray[Any, Any]
Rows = np.ndarray[Any, np.dtype[np.int64]]


class JoinedRecords:
    """Records one after the other in memory.

    Attributes:
      data: Their bytes, and zeros, so that a run may be looked for at the very end.
      size: How many bytes they have.
      view: The same as an array.
      begins: Where each begins.
      ends: Where each ends.
    """

    def __init__(self, records: Sequence[bytes]) -> None:
        self.data = b"".join([*records, bytes(LONGEST_RUN)])
        self.size = len(self.data) - LONGEST_RUN
        self.view = np.frombuffer(self.data, np.uint8)
        sizes = np.fromiter(map(len, records), np.int64, len(records))
        self.ends: Rows = np.cumsum(sizes)
        self.begins: Rows = self.ends - sizes

    def stretches(self, starts: Rows, size: int) -> Array:
        """The ``size`` bytes from each start on, a row for each."""
        if not size:
            return np.empty((len(starts), 0), np.uint8)
        # Items that overlap: taking one copies its bytes in one go.
        items = np.ndarray((len(self.data) - size + 1,), f"V{size}", self.data, 0, (1,))
        return items[starts].view(np.uint8).reshape(len(starts), size)


class LayoutReader:
    """Reads the examples of one layout.

    Args:
      layout: The layout.
      features: What is wanted.
    """

    def __init__(self, layout: Layout, features: Features) -> None:
        self._features = features
        self._slots = layout.slots
        runs = layout.runs
        self._runs = runs
        self._framing = np.frombuffer(b"".join(r.data for r in runs), np.uint8)
        self._mask = np.frombuffer(b"".join(r.mask for r in runs), np.uint8)
        self._offsets = [0, *np.cumsum([len(r.data) for r in runs]).tolist()]
        self._lengths = layout.lengths
        self._end_runs = [length.end_run for length in layout.lengths]
        self._begin_runs = [length.run for length in layout.lengths]
        self._shifts = np.array(
            [n.end_at - n.at - n.width for n in layout.lengths], np.int64
        )
        slots = layout.slots.values()
        self._ints = [run for s in slots if s.kind == "i" for run in s.payloads]
        self._floats = [run for s in slots if s.kind == "f" for run in s.payloads]
        # Which payloads must be how long, and which must have how many integers.
        self._fixed_floats: dict[int, int] = {}
        self._fixed_ints: dict[int, int] = {}
        for name, feature in features.items():
            slot = layout.slots.get(name)
            if slot and slot.payloads and isinstance(feature, FixedLenFeature):
                if slot.kind == "f":
                    self._fixed_floats[slot.payloads[0]] = 4 * feature.size
                elif slot.kind == "i":
                    self._fixed_ints[slot.payloads[0]] = feature.size
        self.suits = all(
            _suits(layout.slots.get(name), feature)
            for name, feature in features.items()
        )

    def read(
        self, records: JoinedRecords, rows: Rows, columns: Mapping[str, Column]
    ) -> Rows:
        """Puts the examples of this layout into the columns.

        Args:
          records: The batch.
          rows: Which of the batch to look at.
          columns: Where to put the values.

        Returns:
          The rows that are of another layout, or that only protobuf should judge.
        """
        places = self._find_runs(records, rows)
        good = self._are_of_this_layout(records, rows, places)
        taken, others = rows, rows[:0]
        if not good.all():
            taken, others = rows[good], rows[~good]
            places = places[:, good]
        # Where the payloads are; the last run has none.
        starts = places[:-1] + self._run_sizes()
        sizes = places[1:] - starts
        integers = self._integers(records, starts, sizes)
        if isinstance(integers, np.ndarray):  # these cannot be decoded here
            bad = integers
            others = np.sort(np.concatenate([others, taken[bad]]))
            keep = ~bad
            taken, starts, sizes = taken[keep], starts[:, keep], sizes[:, keep]
            integers = self._integers(records, starts, sizes)
            assert not isinstance(integers, np.ndarray)
        if len(taken):
            for name, column in columns.items():
                self._put(
                    records,
                    column,
                    self._slots.get(name),
                    taken,
                    starts,
                    sizes,
                    integers,
                )
        return others

    def _run_sizes(self) -> Array:
        return np.array([[len(run.data)] for run in self._runs[:-1]], np.int64).reshape(
            -1, 1
        )

    def _find_runs(self, records: JoinedRecords, rows: Rows) -> Array:
        """Where each run begins in each record, if it is of this layout."""
        places = np.empty((len(self._runs), len(rows)), np.int64)
        at = places[0] = records.begins[rows]
        for i, run in enumerate(self._runs[:-1], start=1):
            at = at + len(run.data)
            at = places[i] = at + self._payload_sizes(records, run, at)
        # Other records lead anywhere.
        return np.minimum(places, records.size)

    def _payload_sizes(self, records: JoinedRecords, run: Run, ends: Array) -> Array:
        width = run.last_width
        view = records.view
        if width == 1:
            return view.take(ends - 1, mode="clip")
        sizes = np.zeros(len(ends), np.int64)
        for i in range(width):
            byte = view.take(ends - width + i, mode="clip").astype(np.int64)
            sizes |= (byte & 0x7F) << 7 * i
        return sizes

    def _are_of_this_layout(
        self, records: JoinedRecords, rows: Rows, places: Array
    ) -> Array:
        framing = np.empty((len(rows), len(self._framing)), np.uint8)
        for i, run in enumerate(self._runs):
            part = framing[:, self._offsets[i] : self._offsets[i + 1]]
            part[...] = records.stretches(places[i], len(run.data))
        different = framing ^ self._framing
        different &= self._mask
        good = ~different.any(axis=1)
        good &= places[-1] + len(self._runs[-1].data) == records.ends[rows]

        said = self._said_lengths(framing)
        real = places[self._end_runs] - places[self._begin_runs]
        real += self._shifts[:, None]
        good &= (said == real).all(axis=0)

        for run in self._floats:
            size = places[run + 1] - places[run] - len(self._runs[run].data)
            wanted = self._fixed_floats.get(run)
            good &= size % 4 == 0 if wanted is None else size == wanted
        return good

    def _said_lengths(self, framing: Array) -> Array:
        said = np.zeros((len(self._lengths), len(framing)), np.int64)
        at = np.array([self._offsets[n.run] + n.at for n in self._lengths])
        widths = np.array([n.width for n in self._lengths])
        for i in range(int(widths.max(initial=0))):
            wide = np.flatnonzero(widths > i)
            byte = (framing[:, at[wide] + i] & 0x7F).T.astype(np.int64)
            said[wide] |= byte << 7 * i
        return said

    def _integers(
        self, records: JoinedRecords, starts: Array, sizes: Array
    ) -> dict[int, tuple[Rows, Rows]] | Array:
        """The counts and values of each payload of integers, or the rows that fail."""
        runs = self._ints
        if not runs:
            return {}
        cells = starts[runs], sizes[runs]
        values, counts, bad = decode_varints(
            records.view, cells[0].ravel(), cells[1].ravel()
        )
        counts = counts.reshape(len(runs), -1)
        wrong: Array = np.zeros(counts.shape[1], np.bool_)
        if bad is not None:
            wrong |= bad.reshape(len(runs), -1).any(axis=0)
        else:
            for run, wanted in self._fixed_ints.items():
                wrong |= counts[runs.index(run)] != wanted
        if bad is not None or wrong.any():
            return wrong
        ends = np.cumsum(counts.sum(axis=1)).tolist()
        return {
            run: (counts[i], values[ends[i - 1] if i else 0 : ends[i]])
            for i, run in enumerate(runs)
        }

    def _put(
        self,
        records: JoinedRecords,
        column: Column,
        slot: Slot | None,
        rows: Rows,
        starts: Array,
        sizes: Array,
        integers: dict[int, tuple[Rows, Rows]],
    ) -> None:
        if slot is None or not slot.kind:
            if isinstance(column, FixedColumn):
                column.put_default(rows)
            return
        if not slot.payloads:
            column.put(rows, np.zeros_like(rows), np.empty(0, column.dtype))
            return
        run = slot.payloads[0]
        if slot.kind == "i":
            column.put(rows, *integers[run])
        elif slot.kind == "f":
            column.put(rows, sizes[run] // 4, _floats(records, starts[run], sizes[run]))
        else:
            runs = list(slot.payloads)
            counts = np.full(len(rows), len(runs))
            begins = starts[runs].T.ravel()
            ends = begins + sizes[runs].T.ravel()
            data = records.data
            values = np.empty(len(begins), np.object_)
            values[:] = [
                data[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
            ]
            column.put(rows, counts, values)


def _floats(records: JoinedRecords, starts: Rows, sizes: Rows) -> Array:
    size = int(sizes[0])
    if (sizes == size).all():
        # The copy may be at an odd address or of the other byte order.
        raw = records.stretches(starts, size)
    else:
        before = np.cumsum(sizes) - sizes
        places = np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))
        raw = records.view[places]
    return raw.reshape(-1).view("<f4").astype(np.float32, copy=False)


def _suits(slot: Slot | None, feature: FixedLenFeature | VarLenFeature) -> bool:
    """Whether examples of this layout can have this feature at all."""
    fixed = isinstance(feature, FixedLenFeature)
    if slot is None or not slot.kind:
        return not fixed or feature.default is not None
    if slot.kind != feature.dtype.kind:
        return False
    if not fixed:
        return True
    if slot.kind == "O" or not slot.payloads:
        return len(slot.payloads) == feature.size
    return True
