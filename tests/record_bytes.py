"""Record files for tests: their bytes, made without the code that is tested."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import google_crc32c

from replax._src.core.errors import DataLossError
from replax._src.dataset.files.format import FileReader

COMPRESS: dict[str | None, Callable[[bytes], bytes]] = {
    None: bytes,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
}


def masked_crc(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    rotated = ((crc >> 15) | (crc << 17)) & 0xFFFFFFFF
    return ((rotated + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


def header(length: int) -> bytes:
    size = length.to_bytes(8, "little")
    return size + masked_crc(size)


def record(data: bytes) -> bytes:
    return header(len(data)) + data + masked_crc(data)


def records(*datas: bytes) -> bytes:
    return b"".join(map(record, datas))


def written(folder: Path, data: bytes, name: str = "data") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def read_all(reader: FileReader, count: int = 1000) -> list[bytes]:
    """All records; an error ends it."""
    found: list[bytes] = []
    while batch := reader.read(count):
        assert len(batch) <= count
        found += batch
    assert reader.read(count) == []
    return found


def read_on(
    reader: FileReader, count: int = 1000, most: int = 100_000
) -> list[bytes | DataLossError]:
    """All records, and the errors between them."""
    found: list[bytes | DataLossError] = []
    for _ in range(most):
        try:
            batch = reader.read(count)
        except DataLossError as error:
            found.append(error)
            continue
        if not batch:
            return found
        found += batch
    msg = f"it does not end: {found[-3:]}"
    raise AssertionError(msg)
