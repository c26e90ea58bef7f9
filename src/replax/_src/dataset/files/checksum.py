"""The checksums of TFRecord files: CRC32C, masked."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["masked", "masked_all", "where_lengths_check"]

_MASK = 0xA282EAD8
_WORD = 0xFFFFFFFF
# A length is 8 bytes, and its checksum 4.
_LENGTH = 8
# A length of 2**40 and more is none: no record is that long.
_EMPTY_RECORD = 16


@functools.cache
def _crc32c() -> Callable[[bytes], int]:
    # Imported where the first checksum is needed, so that `import replax` is quick.
    import google_crc32c  # noqa: PLC0415

    return google_crc32c.value


def masked(data: bytes) -> int:
    """The masked checksum of the data."""
    crc = _crc32c()(data)
    return (((crc >> 15) | (crc << 17)) + _MASK) & _WORD


def masked_all(datas: Sequence[bytes]) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """The masked checksum of each."""
    crc = np.fromiter(map(_crc32c(), datas), np.uint32, len(datas))
    return ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(_MASK)


def where_lengths_check(data: bytes, start: int) -> list[int]:
    """The offsets from ``start`` on at which a length and its checksum agree."""
    view = np.frombuffer(data, np.uint8)[start:]
    count = len(view) - _EMPTY_RECORD + 1
    if count <= 0:
        return []
    # The upper bytes of a length are zero, which most offsets fail at once.
    upper = view[5 : 5 + count] | view[6 : 6 + count] | view[7 : 7 + count]
    at = np.flatnonzero(upper == 0)
    crc = np.full(len(at), _crc32c()(bytes(_LENGTH)), np.uint32)
    for i, table in enumerate(_tables()):
        crc ^= table[view[at + i]]
    crc = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + np.uint32(_MASK)
    stored = np.zeros(len(at), np.uint32)
    for i in range(4):
        stored |= view[at + _LENGTH + i].astype(np.uint32) << np.uint32(8 * i)
    return (at[crc == stored] + start).tolist()


@functools.cache
def _tables() -> list[np.ndarray[Any, np.dtype[np.uint32]]]:
    """What each byte of a length changes in the checksum of eight zeros."""
    crc = _crc32c()
    zeros = crc(bytes(_LENGTH))
    return [
        np.array(
            [
                crc(bytes(i) + bytes([value]) + bytes(_LENGTH - 1 - i)) ^ zeros
                for value in range(256)
            ],
            np.uint32,
        )
        for i in range(_LENGTH)
    ]
