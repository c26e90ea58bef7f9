"""``prefetch``: elements that a thread makes while earlier ones are used."""

from __future__ import annotations

import dataclasses
import weakref

from replax._src.dataset.block import Block, Index
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.shelf import Shelf
from replax._src.dataset.structure import ElementSpec

__all__ = ["Prefetch"]

# At most so many elements at a time, so that the first of them are soon at hand.
_LARGEST_PIECE = 64


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Prefetch(Node):
    """The same elements, of which ``buffer_size`` are made ahead."""

    child: Node
    buffer_size: int

    def label(self) -> str:
        return f"prefetch({self.buffer_size})"

    def identity(self) -> str:
        return "prefetch()"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    @property
    def pure(self) -> bool:
        return False

    @property
    def ahead(self) -> bool:
        return True

    def rows(self, index: Index, pass_: Pass) -> Block:
        return self.child.rows(index, pass_)

    def open(self, pass_: Pass) -> Cursor:
        # Functions of users are called for one element after the other: the first one
        # is at hand soon, and one that cannot be made takes no others with it.
        piece = _LARGEST_PIECE if self.child.pure else 1
        return _PrefetchCursor(self.child.open(pass_), self.buffer_size, piece)


class _PrefetchCursor(Cursor):
    """Its position is that of the source before the oldest elements at hand."""

    def __init__(self, child: Cursor, buffer_size: int, piece: int) -> None:
        self._child = child
        self._buffer_size = buffer_size
        self._piece = piece
        self._shelf: Shelf[Block] | None = None
        self._current: Block | None = None
        self._given = 0
        self._before: State = None

    def take(self, count: int) -> Block | None:
        if self._shelf is None:
            self._shelf = Shelf(self._child, self._buffer_size, largest=self._piece)
            weakref.finalize(self, self._shelf.stop)
        if self._current is None:
            piece = self._shelf.get()
            if piece is None:
                return None
            self._current, self._before = piece
            self._given = 0
        part = self._current.part(self._given, self._given + count)
        self._given += part.size
        if self._given == self._current.size:
            self._current = None
        return part

    def state(self) -> State:
        if self._current is not None:
            return [self._given, self._before]
        if self._shelf is None:
            return [0, self._child.state()]
        return [0, self._shelf.state()]

    def restore(self, state: State) -> None:
        given, child_state = state
        self._child.restore(child_state)
        while given:
            block = self._child.take(given)
            if block is None:
                return
            given -= block.size

    def close(self) -> None:
        if self._shelf is not None:
            self._shelf.stop()
        else:
            self._child.close()
