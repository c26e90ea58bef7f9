"""TFRecord files: records of any length, with checksums.

A record is its length (8 bytes), the checksum of the length (4), the data, and the
checksum of the data (4), all of them little-endian.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import struct
from typing import ClassVar, NoReturn

import numpy as np

from replax._src.dataset.files.buffer import Buffer
from replax._src.dataset.files.checksum import (
    masked,
    masked_all,
    where_lengths_check,
)
from replax._src.dataset.files.compression import known_compression
from replax._src.dataset.files.damage import data_loss
from replax._src.dataset.files.format import (
    FileFormat,
    FilePath,
    FileReader,
    Position,
)
from replax._src.dataset.files.stream import open_stream

__all__ = ["HEADER", "TFRecords"]

HEADER = struct.Struct("<QI")
_FOOTER_BYTES = 4
_FRAME = HEADER.size + _FOOTER_BYTES

# What the next read does first: it reads; it looks for the next whole record, because
# the last length could not be trusted; nothing, because the file is over.
_READING, _SEARCHING, _OVER = range(3)


@dataclasses.dataclass(frozen=True)
class TFRecords(FileFormat):
    """TFRecord files.

    Each record has checksums of its own. Compressed data have one more, at their end: a
    damage that makes them repeat a whole record is seen when they have been read.

    Args:
      compression: ``"GZIP"``, ``"ZLIB"``, or None.
      buffer_size: How many bytes are read at once.
    """

    compression: str | None = None
    buffer_size: int | None = None

    name: ClassVar[str] = "TFRecord"

    def __post_init__(self) -> None:
        known_compression(self.compression)
        if self.buffer_size is not None and self.buffer_size < 0:
            msg = (
                f"buffer_size is {self.buffer_size}; it is a number of bytes, or None "
                f"for a size that suits most files"
            )
            raise ValueError(msg)

    def open(self, path: FilePath) -> FileReader:
        """A reader at the first record; a NotFoundError if there is no such file."""
        return _TFRecordReader(
            path, known_compression(self.compression), self.buffer_size or 1 << 18
        )


class _TFRecordReader(FileReader):
    def __init__(self, path: FilePath, compression: str, buffer_size: int) -> None:
        self._path = os.fsdecode(path)
        self._compression = compression
        self._stream = open_stream(path, compression)
        self._buffer = Buffer(self._stream, buffer_size)
        self._record = 0
        self._state = _READING

    def position(self) -> Position:
        return [self._buffer.offset, self._record, self._state]

    def seek(self, position: Position) -> None:
        offset, self._record, self._state = position
        if self._state != _OVER:
            self._buffer.seek(offset)

    def close(self) -> None:
        self._stream.close()

    def read(self, count: int) -> list[bytes]:
        if self._state == _SEARCHING:
            self._search()
        if self._state == _OVER:
            return []
        records = self._take(count)
        if not records and self._fetch():
            records = self._take(count)
            if not records:
                self._data_are_damaged()
        return records

    def _take(self, count: int) -> list[bytes]:
        """The whole and intact records at the start of what is in memory."""
        data = self._buffer.data
        at, end = self._buffer.start, len(data)
        records: list[bytes] = []
        footers: list[bytes] = []
        for _ in range(count):
            body = at + 12
            length = _checked_length(data[at:body])
            if length is None:
                break
            stop = body + length
            at = stop + 4
            if at > end:
                break
            records.append(data[body:stop])
            footers.append(data[stop:at])
        if not records:
            return records
        stored = np.frombuffer(b"".join(footers), "<u4")
        wrong = masked_all(records) != stored
        if wrong.any():
            del records[int(wrong.argmax()) :]
        self._buffer.start += sum(map(len, records)) + _FRAME * len(records)
        self._record += len(records)
        return records

    def _fetch(self) -> bool:
        """Brings the next record into memory; False at the end of the file."""
        have = self._buffer.fill(HEADER.size)
        if have < HEADER.size:
            self._state = _OVER
            if self._buffer.broken is not None:
                self._raise(self._buffer.broken)
            if have:
                self._raise(
                    f"the file ends after {have} bytes of the {HEADER.size} that a "
                    f"record starts with: its end was cut off"
                )
            return False
        length = self._length_here()
        if length is None:
            reason = f"the checksum of its length is wrong{self._hint()}"
            self._raise(reason, search_from=1)
        size = length + _FRAME
        if not self._buffer.can_hold(size) or self._buffer.fill(size) < size:
            broken = self._buffer.broken
            reason = f"the file ends before the {length} bytes that the record has"
            self._raise(
                f"{reason}; {broken}" if broken else f"{reason}: its end was cut off",
                search_from=HEADER.size,
            )
        return True

    def _data_are_damaged(self) -> NoReturn:
        """Raises, and stands behind the record if its length seems right."""
        start, length = self._buffer.start, self._length_here()
        assert length is not None
        size = length + _FRAME
        behind = self._buffer.fill(size + HEADER.size) - size
        start = self._buffer.start + size
        following = self._buffer.data[start : start + HEADER.size]
        reason = f"the checksum of its {length} bytes of data is wrong"
        # Where bytes were lost or added, the next record does not start where this
        # one says that it ends.
        fits = behind == 0 or _checked_length(following) is not None
        if fits:
            error = self._error(reason)
            self._buffer.start = start
            self._record += 1
            raise error
        self._raise(reason, search_from=HEADER.size)

    def _search(self) -> None:
        """Goes to the next offset at which a whole, intact record stands."""
        buffer = self._buffer
        while buffer.fill(_FRAME) >= _FRAME:
            data = buffer.data
            for at in where_lengths_check(data, buffer.start):
                buffer.start = at
                if self._is_intact():
                    self._state = _READING
                    return
                buffer.start += 1
                if buffer.data is not data:
                    break  # more was read to look at it, so offsets are others
            else:
                # The last bytes may be the beginning of a length.
                buffer.start = max(buffer.start, len(data) - _FRAME + 1)
        self._state = _OVER
        if buffer.broken is not None:
            self._raise(buffer.broken)

    def _is_intact(self) -> bool:
        length = self._length_here()
        if length is None:
            return False
        size = length + _FRAME
        if not self._buffer.can_hold(size) or self._buffer.fill(size) < size:
            return False
        body = self._buffer.start + HEADER.size
        data = self._buffer.data[body : body + length + _FOOTER_BYTES]
        return data[length:] == masked(data[:length]).to_bytes(4, "little")

    def _length_here(self) -> int | None:
        start = self._buffer.start
        return _checked_length(self._buffer.data[start : start + HEADER.size])

    def _raise(self, reason: str, search_from: int | None = None) -> NoReturn:
        error = self._error(reason)
        if search_from is not None:
            self._buffer.start += search_from
            self._state = _SEARCHING
        self._record += 1
        raise error

    def _error(self, reason: str) -> Exception:
        return data_loss(self._path, self._record, self._buffer.offset, reason)

    def _hint(self) -> str:
        """What the beginning of a file tells of a file that is of another format."""
        if self._compression or self._buffer.offset:
            return ""
        if self._buffer.data.startswith(b"\x1f\x8b"):
            return ' (the file begins as GZIP files do: say compression="GZIP")'
        return " (is this a TFRecord file, and not a compressed one?)"


@functools.lru_cache(1 << 16)
def _checked_length(header: bytes) -> int | None:
    """The length that a header says, unless its checksum is wrong or it is cut.

    Lengths repeat, and one that was checked once is right for ever.
    """
    if len(header) < HEADER.size:
        return None
    length, checksum = HEADER.unpack(header)
    return length if checksum == masked(header[:8]) else None
