"""``repeat``: the elements several times over, or without end."""

from __future__ import annotations

import dataclasses

import numpy as np

from replax._src.dataset.block import Block, Index
from replax._src.dataset.index import as_array, shifted
from replax._src.dataset.node import INFINITE, Cursor, IndexCursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["Repeat"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Repeat(Node):
    """Round after round of ``child``; each is a pass of its own.

    Attributes:
      count: How many rounds; None for ever.
    """

    child: Node
    count: int | None

    def label(self) -> str:
        return f"repeat({'' if self.count is None else self.count})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        elements = self.child.cardinality()
        if self.count == 0 or elements == 0:
            return 0
        if self.count is None:
            return INFINITE
        return elements if elements < 0 else elements * self.count

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _RepeatCursor(self, pass_)

    def rows(self, index: Index, pass_: Pass) -> Block:
        size = self.child.cardinality()
        if size == INFINITE:
            return self.child.rows(index, (*pass_, 0))
        if isinstance(index, range) and index.step == 1:
            return self._range(index, size, pass_)
        numbers = as_array(index)
        rounds = numbers // size
        if not self.child.varies:
            return self.child.rows(numbers - rounds * size, (*pass_, 0))
        blocks: list[Block] = []
        places: list[np.ndarray] = []
        for number in np.unique(rounds):
            here = np.flatnonzero(rounds == number)
            within = numbers[here] - number * size
            blocks.append(self.child.rows(within, (*pass_, int(number))))
            places.append(here)
        if len(blocks) == 1:
            return blocks[0]
        return Block.joined(blocks).chosen(np.argsort(np.concatenate(places)))

    def _range(self, index: range, size: int, pass_: Pass) -> Block:
        blocks: list[Block] = []
        start = index.start
        while start < index.stop:
            number = start // size
            stop = min(index.stop, (number + 1) * size)
            within = shifted(range(start, stop), -number * size)
            blocks.append(self.child.rows(within, (*pass_, number)))
            start = stop
        return Block.joined(blocks)


class _RepeatCursor(Cursor):
    def __init__(self, node: Repeat, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._round = 0
        self._cursor: Cursor | None = None
        self._got_any = False

    def take(self, count: int) -> Block | None:
        rounds = self._node.count
        while rounds is None or self._round < rounds:
            if self._cursor is None:
                self._cursor = self._open()
            block = self._cursor.take(count)
            if block is not None:
                self._got_any = True
                return block
            if rounds is None and not self._got_any:
                return None  # for ever nothing
            self.close()
            self._cursor = None
            self._round += 1
            self._got_any = False
        return None

    def _open(self) -> Cursor:
        return self._node.child.open((*self._pass, self._round))

    def state(self) -> State:
        if self._cursor is None:
            return [self._round, 0, None]
        return [self._round, int(self._got_any), self._cursor.state()]

    def restore(self, state: State) -> None:
        self._round, got_any, child_state = state
        self._got_any = bool(got_any)
        if child_state is not None:
            self._cursor = self._open()
            self._cursor.restore(child_state)

    def close(self) -> None:
        if self._cursor is not None:
            self._cursor.close()
