"""Where elements are kept that are made only once: in memory, or in a file."""

from __future__ import annotations

import abc
import contextlib
import os
import pickle
import struct
import tempfile
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from replax._src.core.errors import DataLossError
from replax._src.dataset.block import Block

__all__ = ["FileStore", "MemoryStore", "Store", "Writing"]


class Writing(abc.ABC):
    """Elements that are being stored; nobody sees them until they are complete."""

    @abc.abstractmethod
    def add(self, block: Block) -> Block:
        """Stores more elements; gives them as they may be given to users."""

    @abc.abstractmethod
    def complete(self) -> None:
        """Shows them to everybody."""

    def abandon(self) -> None:
        """Forgets them."""
        return


class Store(abc.ABC):
    """Keeps the elements of one pass."""

    @abc.abstractmethod
    def is_complete(self) -> bool:
        """Whether all elements are there."""

    @abc.abstractmethod
    def blocks(self, start: int) -> Iterator[Block]:
        """The elements from a number on."""

    @abc.abstractmethod
    def begin(self) -> Writing:
        """Begins to store elements."""


class MemoryStore(Store):
    """Keeps them in memory."""

    def __init__(self) -> None:
        self._elements: Block | None = None
        self._is_complete = False
        self._lock = threading.Lock()

    def is_complete(self) -> bool:
        return self._is_complete

    def blocks(self, start: int) -> Iterator[Block]:
        elements = self._elements
        if elements is not None and start < elements.size:
            yield elements.part(start, elements.size)

    def begin(self) -> Writing:
        return _InMemory(self)

    def keep(self, elements: Block | None) -> None:
        """Keeps what was read first, if several have read at the same time."""
        with self._lock:
            if not self._is_complete:
                # Every pass gives these very arrays.
                self._elements = elements and elements.frozen()
                self._is_complete = True

    def __repr__(self) -> str:
        return ""


class _InMemory(Writing):
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._blocks: list[Block] = []

    def add(self, block: Block) -> Block:
        self._blocks.append(block.frozen())
        return self._blocks[-1]

    def complete(self) -> None:
        self._store.keep(Block.joined(self._blocks) if self._blocks else None)


# Before each block: how many bytes it has, and their checksum.
_HEADER = struct.Struct("<QI")
# Behind the last block: what no block begins with.
_END = _HEADER.pack(0, 0)
_MAGIC = b"replax elements 2\n"


class FileStore(Store):
    """Keeps them in a file, which other processes and later runs can read.

    The file is written under another name and gets its own when it is complete.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def is_complete(self) -> bool:
        return self._path.exists()

    def blocks(self, start: int) -> Iterator[Block]:
        with self._path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                msg = (
                    f"{self._path} was not written by cache or snapshot; give the name "
                    f"of a file that is not there yet"
                )
                raise DataLossError(msg)
            first = 0
            while (header := file.read(_HEADER.size)) != _END:
                block = _loaded(header, file)
                if block is None:
                    msg = (
                        f"{self._path} is damaged behind element {first}; remove it, "
                        f"and the next iteration will write it again"
                    )
                    raise DataLossError(msg)
                if first + block.size > start:
                    yield block.part(max(0, start - first), block.size)
                first += block.size

    def begin(self) -> Writing:
        return _InFile(self._path)

    def __repr__(self) -> str:
        return repr(str(self._path))


def _loaded(header: bytes, file: BinaryIO) -> Block | None:
    if len(header) < _HEADER.size:
        return None
    length, checksum = _HEADER.unpack(header)
    data = file.read(length)
    if len(data) != length or zlib.crc32(data) != checksum:
        return None
    loaded: Any = pickle.loads(data)  # noqa: S301  # its checksum has just been seen
    return loaded


class _InFile(Writing):
    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        self._temporary = Path(name)
        self._file = os.fdopen(handle, "wb")
        self._file.write(_MAGIC)

    def add(self, block: Block) -> Block:
        data = pickle.dumps(block, protocol=pickle.HIGHEST_PROTOCOL)
        self._file.write(_HEADER.pack(len(data), zlib.crc32(data)))
        self._file.write(data)
        return block

    def complete(self) -> None:
        self._file.write(_END)
        self._file.close()
        self._temporary.replace(self._path)

    def abandon(self) -> None:
        self._file.close()
        with contextlib.suppress(OSError):
            self._temporary.unlink()
