"""What a file format is, and what reads one file of it."""

from __future__ import annotations

import abc
import os
from typing import ClassVar, Self

__all__ = ["FileFormat", "FilePath", "FileReader", "Position"]

FilePath = str | bytes | os.PathLike[str] | os.PathLike[bytes]

# Where the next record starts in the uncompressed data, the number it has, and what
# else the format needs to go on there. JSON can hold it.
Position = list[int]


class FileReader(abc.ABC):
    """One open file.

    Where the file is damaged ``read`` raises a DataLossError, once for each damage.
    The next call goes on behind it.
    """

    @abc.abstractmethod
    def read(self, count: int) -> list[bytes]:
        """The next records: between 1 and ``count``, and none at the end."""

    @abc.abstractmethod
    def position(self) -> Position:
        """Where the next ``read`` starts."""

    @abc.abstractmethod
    def seek(self, position: Position) -> None:
        """Goes where a reader of this file was when it said ``position``."""

    @abc.abstractmethod
    def close(self) -> None:
        """Closes the file; twice is once."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FileFormat(abc.ABC):
    """How the records of a file are found; a frozen dataclass of its options."""

    name: ClassVar[str]

    @abc.abstractmethod
    def open(self, path: FilePath) -> FileReader:
        """A reader at the first record; a NotFoundError if there is no such file."""
