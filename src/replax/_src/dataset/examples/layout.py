"""How the bytes of an example are laid out.

An example is *runs* of framing (tags, names, lengths), between *payloads*, which are
the values. Records that one program wrote mostly have the same runs up to the lengths
in them, so the runs of one record tell where the values of the others are.
"""

from __future__ import annotations

import dataclasses

__all__ = ["LONGEST_RUN", "Layout", "Length", "Run", "Slot", "learn_layout"]

# Tags of protobuf: the number of the field, and "bytes with a length before them".
_FIRST = 0x0A
_SECOND = 0x12
_KINDS = {0x0A: "O", 0x12: "f", 0x1A: "i"}

# What goes beyond is left to protobuf.
LONGEST_RUN = 4096
_MOST_LENGTH_BYTES = 4
_MOST_RUNS = 512


@dataclasses.dataclass(frozen=True)
class Run:
    """Framing that is the same in all records but for the lengths in it.

    Attributes:
      data: The bytes, as they are in one record.
      mask: Which bits of them are the same in all records.
      last_width: How many bytes the length of the payload behind this run takes.
    """

    data: bytes
    mask: bytes
    last_width: int


@dataclasses.dataclass(frozen=True)
class Length:
    """A length in a run, and where what it measures ends.

    Attributes:
      run: In which run it is.
      at: Where in this run it begins.
      width: How many bytes it takes.
      end_run: In which run the end is.
      end_at: Where in that run.
    """

    run: int
    at: int
    width: int
    end_run: int
    end_at: int


@dataclasses.dataclass(frozen=True)
class Slot:
    """The values of one feature.

    Attributes:
      kind: ``"i"``, ``"f"``, ``"O"`` as NumPy calls it, or ``""`` for none at all.
      payloads: The runs behind which they are: one with all numbers, or one for each
        string; none if there are no values.
    """

    kind: str
    payloads: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where everything is in records like one that was seen.

    Attributes:
      runs: The framing; behind each but the last is a payload.
      lengths: The lengths in it, without those of payloads.
      slots: The features by their names.
    """

    runs: tuple[Run, ...]
    lengths: tuple[Length, ...]
    slots: dict[str, Slot]


def learn_layout(record: bytes) -> Layout | None:
    """The layout of a record that protobuf can parse.

    None if it is of a form that only protobuf should read: fields in another order,
    twice, unknown, or lists of numbers that are not packed.
    """
    try:
        return _Learner(record).learn()
    except (_UnusualFormError, IndexError, UnicodeDecodeError):
        return None


class _UnusualFormError(Exception):
    pass


@dataclasses.dataclass
class _OpenLength:
    run: int
    at: int
    width: int
    stop: int  # where in the record what it measures ends


class _Learner:
    def __init__(self, record: bytes) -> None:
        self._record = record
        self._at = 0
        self._begin = 0  # of the run
        self._mask = bytearray()
        self._runs: list[Run] = []
        self._lengths: list[Length] = []

    def learn(self) -> Layout:
        self._tag(_FIRST)
        whole = self._length()
        slots: dict[str, Slot] = {}
        while self._at < whole.stop:
            self._tag(_FIRST)
            entry = self._length()
            self._tag(_FIRST)
            name = self._name()
            self._tag(_SECOND)
            if name in slots:
                raise _UnusualFormError
            slots[name] = self._feature()
            self._end(entry)
        self._end(whole)
        if self._at != len(self._record):
            raise _UnusualFormError
        self._end_run(0)
        if len(self._runs) > _MOST_RUNS:
            raise _UnusualFormError
        return Layout(tuple(self._runs), tuple(self._lengths), slots)

    def _feature(self) -> Slot:
        feature = self._length()
        if feature.stop == self._at:
            self._end(feature)
            return Slot("", ())
        kind = _KINDS.get(self._record[self._at])
        if kind is None:
            raise _UnusualFormError
        self._framing(1)
        values = self._length()
        payloads: list[int] = []
        while self._at < values.stop:
            if payloads and kind != "O":
                raise _UnusualFormError
            self._tag(_FIRST)
            payloads.append(len(self._runs))
            self._payload()
        self._end(values)
        self._end(feature)
        return Slot(kind, tuple(payloads))

    def _tag(self, tag: int) -> None:
        if self._record[self._at] != tag:
            raise _UnusualFormError
        self._framing(1)

    def _name(self) -> str:
        # The lengths of names are the same in all records, as the names are.
        size, width = self._varint()
        self._framing(width + size)
        return self._record[self._at - size : self._at].decode()

    def _framing(self, size: int) -> None:
        self._mask += b"\xff" * size
        self._at += size

    def _length(self) -> _OpenLength:
        size, width = self._varint()
        at = self._at - self._begin
        self._mask += b"\x80" * width
        self._at += width
        return _OpenLength(len(self._runs), at, width, self._at + size)

    def _end(self, length: _OpenLength) -> None:
        if self._at != length.stop:
            raise _UnusualFormError
        self._lengths.append(
            Length(
                length.run,
                length.at,
                length.width,
                len(self._runs),
                self._at - self._begin,
            )
        )

    def _payload(self) -> None:
        size, width = self._varint()
        self._mask += b"\x80" * width
        self._at += width
        self._end_run(width)
        self._at += size
        self._begin = self._at

    def _end_run(self, last_width: int) -> None:
        data = self._record[self._begin : self._at]
        if len(data) != len(self._mask) or len(data) > LONGEST_RUN:
            raise _UnusualFormError
        self._runs.append(Run(data, bytes(self._mask), last_width))
        self._mask = bytearray()
        self._begin = self._at

    def _varint(self) -> tuple[int, int]:
        """The number here, and how many bytes it takes."""
        value = 0
        for width in range(1, _MOST_LENGTH_BYTES + 1):
            byte = self._record[self._at + width - 1]
            value |= (byte & 0x7F) << 7 * (width - 1)
            if byte < 0x80:
                return value, width
        raise _UnusualFormError
