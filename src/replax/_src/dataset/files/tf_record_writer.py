"""Writing TFRecord files."""

from __future__ import annotations

import functools
import os
import struct
import zlib
from pathlib import Path
from typing import Any, Self

from replax._src.core.errors import NotFoundError
from replax._src.dataset.files.checksum import masked
from replax._src.dataset.files.compression import WINDOW_BITS, known_compression
from replax._src.dataset.files.format import FilePath
from replax._src.dataset.files.tf_record import HEADER

__all__ = ["TFRecordWriter"]

_FOOTER = struct.Struct("<I")
_BUFFER = 1 << 18


class TFRecordWriter:
    """Writes a TFRecord file, which TensorFlow reads as well.

    Args:
      path: The file; one that is there is written anew.
      options: The compression: ``"GZIP"``, ``"ZLIB"``, or None.

    >>> import pathlib, tempfile
    >>> from replax.io import TFRecordWriter
    >>> path = pathlib.Path(tempfile.mkdtemp(), "data.tfrecord")
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"first")
    ...     writer.write(b"second")
    >>> path.stat().st_size
    43
    """

    def __init__(self, path: FilePath, options: str | None = None) -> None:
        self._closed = True  # as long as the file is not open
        compression = known_compression(options)
        self.path = os.fsdecode(path)
        try:
            # Closed by close().
            self._file = Path(self.path).open("wb", buffering=_BUFFER)  # noqa: SIM115
        except FileNotFoundError:
            msg = (
                f"{self.path!r} cannot be written, as its folder is not there; make "
                f"it first, with pathlib.Path(...).mkdir(parents=True)"
            )
            raise NotFoundError(msg) from None
        self._closed = False
        self._deflater = (
            zlib.compressobj(wbits=WINDOW_BITS[compression]) if compression else None
        )

    def write(self, record: bytes) -> None:
        """Writes one record."""
        self._check_open()
        if not isinstance(record, bytes):
            raise TypeError(_not_bytes(record))
        data = b"".join((_header(len(record)), record, _FOOTER.pack(masked(record))))
        if self._deflater is not None:
            data = self._deflater.compress(data)
        self._file.write(data)

    def flush(self) -> None:
        """Hands what was written to the system, so that others can read it."""
        self._check_open()
        if self._deflater is not None:
            self._file.write(self._deflater.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Ends the file; twice is once."""
        if self._closed:
            return
        self._closed = True
        with self._file:
            if self._deflater is not None:
                self._file.write(self._deflater.flush())

    def _check_open(self) -> None:
        if self._closed:
            msg = (
                f"the writer of {self.path!r} is closed, and a file that was closed "
                f"takes no more records; write them before, or make another file"
            )
            raise ValueError(msg)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        # A program that forgets to close its writer has its records all the same.
        self.close()


@functools.lru_cache(1 << 12)
def _header(length: int) -> bytes:
    """Lengths repeat, and so do their checksums."""
    return HEADER.pack(length, masked(length.to_bytes(8, "little")))


def _not_bytes(record: Any) -> str:
    what = f"a record is bytes, and this is of type {type(record).__name__}"
    if isinstance(record, str):
        return f"{what}; write record.encode()"
    if isinstance(record, (bytearray, memoryview)):
        return f"{what}; write bytes(record)"
    if hasattr(record, "tobytes"):
        return (
            f"{what}; write array.tobytes(), or serialize_example({{'name': array}}), "
            f"which keeps its dtype and takes strings too"
        )
    if hasattr(record, "SerializeToString"):
        return f"{what}; write message.SerializeToString()"
    return f"{what}; turn it into bytes, for example with serialize_example({{...}})"
