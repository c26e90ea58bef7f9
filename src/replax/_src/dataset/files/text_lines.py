"""Text files: a record is a line."""

from __future__ import annotations

import dataclasses
import os
from typing import ClassVar

from replax._src.dataset.files.compression import known_compression
from replax._src.dataset.files.damage import data_loss
from replax._src.dataset.files.format import (
    FileFormat,
    FilePath,
    FileReader,
    Position,
)
from replax._src.dataset.files.stream import BrokenStreamError, open_stream

__all__ = ["TextLines"]

_CHUNK = 1 << 18


@dataclasses.dataclass(frozen=True)
class TextLines(FileFormat):
    """The lines of text files, without what ends them.

    A carriage return is dropped wherever it is, as tf.data does it: lines may end as
    they do on Windows.

    Args:
      compression: ``"GZIP"``, ``"ZLIB"``, or None.
    """

    compression: str | None = None

    name: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        known_compression(self.compression)

    def open(self, path: FilePath) -> FileReader:
        """A reader at the first line; a NotFoundError if there is no such file."""
        return _TextLineReader(path, known_compression(self.compression))


class _TextLineReader(FileReader):
    def __init__(self, path: FilePath, compression: str) -> None:
        self._path = os.fsdecode(path)
        self._stream = open_stream(path, compression)
        self._start(0, 0)

    def _start(self, offset: int, line: int) -> None:
        self._offset = offset  # where the next line begins
        self._line = line
        self._lines: list[bytes] = []  # whole lines in memory
        self._next = 0  # which of them is next
        self._rest = b""  # the beginning of the line behind them
        self._unended = False  # the last of them ends with the file
        self._over = False
        self._broken: str | None = None

    def position(self) -> Position:
        return [self._offset, self._line, int(self._over)]

    def seek(self, position: Position) -> None:
        offset, line, over = position
        self._start(offset, line)
        self._over = bool(over)
        try:
            if not over:
                self._stream.seek(offset)
        except BrokenStreamError as error:
            self._broken = str(error)

    def close(self) -> None:
        self._stream.close()

    def read(self, count: int) -> list[bytes]:
        if self._next == len(self._lines) and not self._more_lines():
            return []
        lines = self._lines[self._next : self._next + count]
        self._next += len(lines)
        self._line += len(lines)
        self._offset += sum(map(len, lines)) + len(lines)
        if self._unended and self._next == len(self._lines):
            self._offset -= 1
        # One replacement in all of them is quicker than one in each.
        text = b"\n".join(lines)
        return text.replace(b"\r", b"").split(b"\n") if b"\r" in text else lines

    def _more_lines(self) -> bool:
        """Reads until there is a whole line; False at the end of the file."""
        pieces = [self._rest]
        self._next, self._lines, self._rest = 0, [], b""
        while not self._over:
            piece = self._read_stream()
            pieces.append(piece)
            if b"\n" in piece:
                self._lines = b"".join(pieces).split(b"\n")
                self._rest = self._lines.pop()
                return True
            if not piece:
                self._over = True
                if self._broken is not None:
                    raise data_loss(
                        self._path, self._line, self._offset, self._broken, noun="line"
                    )
                last = b"".join(pieces)
                self._unended = True
                # As in TensorFlow, a carriage return alone is no last line.
                self._lines = [last] if last.strip(b"\r") else []
        return bool(self._lines)

    def _read_stream(self) -> bytes:
        if self._broken is None:
            try:
                return self._stream.read(_CHUNK)
            except BrokenStreamError as error:
                self._broken = str(error)
        return b""
