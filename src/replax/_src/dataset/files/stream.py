"""The uncompressed bytes of a file, from any offset on."""

from __future__ import annotations

import abc
import errno
import os
import stat
import zlib
from pathlib import Path
from typing import Any

from replax._src.core.errors import NotFoundError
from replax._src.dataset.files.compression import WINDOW_BITS
from replax._src.dataset.files.format import FilePath

__all__ = ["BrokenStreamError", "Stream", "open_stream"]

# Deflate makes at most this many bytes of one; so a chunk becomes at most 17 MB.
_MOST_INFLATION = 1032
_CHUNK = 1 << 14


class BrokenStreamError(Exception):
    """The bytes end here for a reason that is not the end of the file."""


def open_stream(path: FilePath, compression: str) -> Stream:
    """The file's bytes; a NotFoundError if it is not there."""
    name = os.fsdecode(path)
    try:
        # A descriptor, and no file object: leaving a loop over a dataset leaves its
        # files open, which is no fault, and file objects would warn of it.
        file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        msg = (
            f"there is no file {name!r}; compare the path with what the folder holds, "
            f"and remember that a relative path starts in {os.fspath(Path.cwd())!r}"
        )
        raise NotFoundError(msg) from None
    if stat.S_ISDIR(os.fstat(file).st_mode):
        os.close(file)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    return _Inflated(name, file, compression) if compression else _Plain(name, file)


class Stream(abc.ABC):
    """The uncompressed bytes of one file.

    Attributes:
      path: The file.
      offset: How many bytes lie before what is read next.
    """

    def __init__(self, path: str, file: int) -> None:
        self.path = path
        self.offset = 0
        self._file = file

    @abc.abstractmethod
    def read(self, size: int) -> bytes:
        """Some bytes, if possible ``size``; none at the end, or BrokenStreamError."""

    @abc.abstractmethod
    def seek(self, offset: int) -> None:
        """Goes to an offset, or raises a BrokenStreamError if the file is shorter."""

    @abc.abstractmethod
    def most_left(self) -> int | None:
        """What the rest cannot be longer than, if that can be known."""

    def close(self) -> None:
        """Closes the file; twice is once."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def __del__(self) -> None:
        self.close()

    def _read_file(self, size: int) -> bytes:
        try:
            return os.read(self._file, size)
        except OSError as error:
            # What the system says of a failing disk does not name the file.
            raise type(error)(error.errno, error.strerror, self.path) from error

    def _file_left(self) -> int | None:
        status = os.fstat(self._file)
        if not stat.S_ISREG(status.st_mode):
            return None  # a pipe: it ends when it ends
        return max(0, status.st_size - os.lseek(self._file, 0, os.SEEK_CUR))


class _Plain(Stream):
    def read(self, size: int) -> bytes:
        data = self._read_file(size)
        self.offset += len(data)
        return data

    def seek(self, offset: int) -> None:
        os.lseek(self._file, offset, os.SEEK_SET)
        self.offset = offset
        size = os.fstat(self._file).st_size
        if offset > size:
            raise BrokenStreamError(_shorter(size, offset))

    def most_left(self) -> int | None:
        return self._file_left()


class _Inflated(Stream):
    """Deflated data, one member after the other as ``cat a.gz b.gz`` makes them."""

    def __init__(self, path: str, file: int, compression: str) -> None:
        super().__init__(path, file)
        self._compression = compression
        self._ready = b""  # inflated, and not yet returned
        self._start_member(b"")

    def _start_member(self, data: bytes) -> None:
        self._inflater = zlib.decompressobj(WINDOW_BITS[self._compression])
        self._data = data  # read, and not yet inflated
        self._begun = bool(data)
        self._broken: str | None = None

    def read(self, size: int) -> bytes:
        # All there is of a chunk, whatever is asked for: so a damage has the same
        # effect whoever reads.
        del size
        out, self._ready = self._ready, b""
        while not out:
            if self._broken is not None:
                raise BrokenStreamError(self._broken)
            out = self._inflate()
            if not out and self._broken is None and not self._more():
                break
        self.offset += len(out)
        return out

    def _inflate(self) -> bytes:
        data, self._data = self._data, b""
        before = self._inflater.copy()
        try:
            return self._inflater.decompress(data)
        except zlib.error as error:
            self._broken = f"it is not valid {self._compression} data ({error})"
            return _inflated_until_it_fails(before, data)

    def _more(self) -> bool:
        """Gets more to inflate; whether there is more."""
        if self._inflater.eof:
            rest = self._inflater.unused_data
            if self._compression == "GZIP":
                rest = rest.lstrip(b"\0")  # padding, as on tapes
            self._start_member(rest)
            if rest:
                return True
        chunk = self._read_file(_CHUNK)
        if self._compression == "GZIP" and self.offset and not self._begun:
            while chunk and not chunk.strip(b"\0"):
                chunk = self._read_file(_CHUNK)
            chunk = chunk.lstrip(b"\0")
        if not chunk and self._begun:
            self._broken = f"the {self._compression} data end too early: it was cut"
            return True
        self._begun = self._begun or bool(chunk)
        self._data = chunk
        return bool(chunk)

    def seek(self, offset: int) -> None:
        if offset < self.offset:
            os.lseek(self._file, 0, os.SEEK_SET)
            self.offset = 0
            self._ready = b""
            self._start_member(b"")
        while self.offset < offset:
            out = self.read(_CHUNK)
            if not out:
                raise BrokenStreamError(_shorter(self.offset, offset))
            if self.offset > offset:
                self._ready = out[offset - self.offset :]
                self.offset = offset

    def most_left(self) -> int | None:
        left = self._file_left()
        if left is None:
            return None
        return len(self._ready) + (left + len(self._data) + 1) * _MOST_INFLATION


def _inflated_until_it_fails(inflater: Any, data: bytes) -> bytes:
    """What comes out before the error, which zlib discards when it raises."""
    # As many bytes as go in without an error are found by halving.
    good, bad = 0, len(data)
    out = b""
    while bad - good > 1:
        middle = (good + bad) // 2
        attempt = inflater.copy()
        try:
            more = attempt.decompress(data[good:middle])
        except zlib.error:
            bad = middle
        else:
            inflater, good = attempt, middle
            out += more
    return out


def _shorter(size: int, offset: int) -> str:
    return f"it has {size} bytes, and reading was to go on at byte {offset}"
