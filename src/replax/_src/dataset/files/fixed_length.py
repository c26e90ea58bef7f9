"""Files of records that are all of one length."""

from __future__ import annotations

import dataclasses
import os
from typing import ClassVar

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.files.buffer import Buffer
from replax._src.dataset.files.compression import known_compression
from replax._src.dataset.files.damage import data_loss
from replax._src.dataset.files.format import (
    FileFormat,
    FilePath,
    FileReader,
    Position,
)
from replax._src.dataset.files.stream import open_stream

__all__ = ["FixedLengthRecords"]

_CHUNK = 1 << 18


@dataclasses.dataclass(frozen=True)
class FixedLengthRecords(FileFormat):
    """Files of records of one length, between a header and a footer.

    Args:
      record_bytes: How long a record is.
      header_bytes: How many bytes there are before the first record.
      footer_bytes: How many bytes there are behind the last record.
      compression: ``"GZIP"``, ``"ZLIB"``, or None.
    """

    record_bytes: int
    header_bytes: int = 0
    footer_bytes: int = 0
    compression: str | None = None

    name: ClassVar[str] = "fixed-length"

    def __post_init__(self) -> None:
        known_compression(self.compression)
        if self.record_bytes < 1:
            msg = (
                f"record_bytes is {self.record_bytes}; a record has at least one byte, "
                f"so write how many bytes each record of the files has"
            )
            raise InvalidArgumentError(msg)
        for name in ("header_bytes", "footer_bytes"):
            if getattr(self, name) < 0:
                msg = (
                    f"{name} is {getattr(self, name)}; it is how many bytes are "
                    f"skipped in each file, so write 0 or more"
                )
                raise InvalidArgumentError(msg)

    def open(self, path: FilePath) -> FileReader:
        """A reader at the first record; a NotFoundError if there is no such file."""
        return _FixedLengthReader(path, self)


class _FixedLengthReader(FileReader):
    def __init__(self, path: FilePath, layout: FixedLengthRecords) -> None:
        self._path = os.fsdecode(path)
        self._layout = layout
        compression = known_compression(layout.compression)
        self._stream = open_stream(path, compression)
        self._buffer = Buffer(self._stream, max(_CHUNK, layout.record_bytes))
        self._record = 0
        self._over = False

    def position(self) -> Position:
        return [self._buffer.offset, self._record, int(self._over)]

    def seek(self, position: Position) -> None:
        offset, self._record, over = position
        self._over = bool(over)
        if not over:
            self._buffer.seek(offset)

    def close(self) -> None:
        self._stream.close()

    def read(self, count: int) -> list[bytes]:
        if self._over:
            return []
        if self._record == 0 and self._buffer.offset == 0:
            self._skip_header()
        size, footer = self._layout.record_bytes, self._layout.footer_bytes
        # What may be the footer is no record until something follows it.
        have = self._buffer.fill(size + footer) - footer
        count = min(count, have // size)
        if count <= 0:
            return self._end(have)
        start = self._buffer.start
        stop = start + count * size
        data = self._buffer.data
        self._buffer.start = stop
        self._record += count
        return [data[i : i + size] for i in range(start, stop, size)]

    def _skip_header(self) -> None:
        # How long a compressed file is shows at its end only.
        size = None if self._layout.compression else self._stream.most_left()
        if size is not None and not self._fits(size):
            self._over = True
            msg = (
                f"{self._path} is no file of such records: {self._mismatch(size)}; "
                f"compare record_bytes, header_bytes and footer_bytes with how the "
                f"file was written, or skip such files with .ignore_errors()"
            )
            raise InvalidArgumentError(msg)
        header = self._layout.header_bytes
        self._buffer.start += min(header, self._buffer.fill(header))

    def _fits(self, size: int) -> bool:
        layout = self._layout
        body = size - layout.header_bytes - layout.footer_bytes
        # TensorFlow takes a file of nothing at all for one of no records.
        return size == 0 or (body >= 0 and body % layout.record_bytes == 0)

    def _end(self, rest: int) -> list[bytes]:
        """There is no whole record left, but ``rest`` bytes before the footer."""
        self._over = True
        offset = self._buffer.offset
        size = offset + rest + self._layout.footer_bytes
        broken = self._buffer.broken
        if broken is None and (rest == 0 or size == 0):
            return []
        reason = broken or self._mismatch(size)
        raise data_loss(self._path, self._record, offset, reason)

    def _mismatch(self, size: int) -> str:
        layout = self._layout
        edges = layout.header_bytes + layout.footer_bytes
        which = (
            f"header_bytes={layout.header_bytes}, footer_bytes={layout.footer_bytes}"
        )
        if size < edges:
            return f"it has {size} bytes, which are fewer than {which} say"
        return (
            f"it has {size} bytes, which less {which} are {size - edges}, and that is "
            f"no multiple of record_bytes={layout.record_bytes}"
        )
