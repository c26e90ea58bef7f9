"""The records of files."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block
from replax._src.dataset.files.format import FileFormat, FileReader
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.sources.names import path_of
from replax._src.dataset.structure import LEAF, ElementSpec

__all__ = ["Records", "names_of"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Records(Node):
    """The records of the files that ``names`` gives, one file after the other.

    Attributes:
      names: A dataset of names.
      format: What the files hold.
    """

    inputs = ("names",)
    names: Node
    format: FileFormat

    def label(self) -> str:
        return f"{self.format.name}Dataset"

    def spec(self) -> ElementSpec:
        return ElementSpec(LEAF, (TensorSpec((), object),))

    def cardinality(self) -> int:
        return 0 if self.names.cardinality() == 0 else UNKNOWN

    @property
    def pure(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        return _RecordsCursor(self.names.open(pass_), self.format)


class _RecordsCursor(Cursor):
    """Its position: where the names stood before this file, and where it stands."""

    def __init__(self, names: Cursor, file_format: FileFormat) -> None:
        self._names = names
        self._format = file_format
        self._before: State = None
        self._reader: FileReader | None = None

    def take(self, count: int) -> Block | None:
        while True:
            if self._reader is None and not self._open_next():
                return None
            assert self._reader is not None
            records = self._reader.read(count)
            if records:
                column = np.empty(len(records), object)
                column[:] = records
                return Block(LEAF, [column], len(records))
            self._close_file()

    def _open_next(self) -> bool:
        before = self._names.state()
        block = self._names.take(1)
        if block is None:
            return False
        self._reader = self._format.open(path_of(block.element(0)))
        self._before = before
        return True

    def _close_file(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def state(self) -> State:
        if self._reader is None:
            return [None, self._names.state()]
        return [self._reader.position(), self._before]

    def restore(self, state: State) -> None:
        position, names = state
        self._names.restore(names)
        if position is not None and self._open_next():
            assert self._reader is not None
            self._reader.seek(position)

    def close(self) -> None:
        self._close_file()
        self._names.close()


def names_of(filenames: Any) -> np.ndarray:
    """Names of files, given as one or several, as a column of ``bytes``."""
    names = np.ravel(np.asarray(filenames, object))
    column = np.empty(len(names), object)
    column[:] = [os.fsencode(path_of(name)) for name in names]
    return column
