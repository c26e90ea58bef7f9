"""The compressions of record files, by TensorFlow's names."""

from __future__ import annotations

import zlib

from replax._src.core.errors import InvalidArgumentError

__all__ = ["WINDOW_BITS", "known_compression"]

# What tells zlib which wrapping the deflated data have.
WINDOW_BITS = {"GZIP": 16 + zlib.MAX_WBITS, "ZLIB": zlib.MAX_WBITS}


def known_compression(compression: str | None) -> str:
    """``compression`` with ``""`` for none, or the error of an unknown one."""
    if compression is None or compression == "":
        return ""
    if compression in WINDOW_BITS:
        return compression
    msg = (
        f"the compression {compression!r} is not known here; write 'GZIP', 'ZLIB', or "
        f"None for files that are not compressed"
    )
    raise InvalidArgumentError(msg)
