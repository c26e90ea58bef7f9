"""``unbatch`` and ``rebatch``: batches taken apart, and put together anew."""

from __future__ import annotations

import dataclasses

from replax._src.dataset.block import Block
from replax._src.dataset.node import INFINITE, UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec
from replax._src.dataset.transformations.batch import split_rows

__all__ = ["Unbatch"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Unbatch(Node):
    """The rows of the elements."""

    child: Node

    def label(self) -> str:
        return "unbatch()"

    def spec(self) -> ElementSpec:
        return self.child.spec().unbatched()

    def cardinality(self) -> int:
        elements = self.child.cardinality()
        if elements in (0, INFINITE):
            return elements
        # Elsewhere finding out what the elements look like would call functions.
        if elements == UNKNOWN or not self.child.pure:
            return UNKNOWN
        rows = {leaf.shape[0] for leaf in self.child.spec().leaves if leaf.shape}
        return elements * size if len(rows) == 1 and (size := rows.pop()) else UNKNOWN

    def open(self, pass_: Pass) -> Cursor:
        return _UnbatchCursor(self.child.open(pass_))


class _UnbatchCursor(Cursor):
    """Its position: the element whose rows are given, and how many have been."""

    def __init__(self, child: Cursor) -> None:
        self._child = child
        self._number = 0
        self._before: State = None
        self._rows: Block | None = None
        self._given = 0

    def take(self, count: int) -> Block | None:
        while self._rows is None:
            if not self._read_next():
                return None
        part = self._rows.part(self._given, self._given + count)
        self._given += part.size
        if self._given == self._rows.size:
            self._rows = None
        return part

    def _read_next(self) -> bool:
        before = self._child.state()
        block = self._child.take(1)
        if block is None:
            return False
        rows = split_rows(block, self._number)
        self._number += 1
        if rows.size:
            self._before, self._rows, self._given = before, rows, 0
        return True

    def state(self) -> State:
        if self._rows is None:
            return [self._number, 0, self._child.state()]
        return [self._number - 1, self._given, self._before]

    def restore(self, state: State) -> None:
        self._number, given, child_state = state
        self._child.restore(child_state)
        if given:
            self._read_next()
            self._given = given

    def close(self) -> None:
        self._child.close()
