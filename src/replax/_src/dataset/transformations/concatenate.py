"""``concatenate``: one dataset after another."""

from __future__ import annotations

import dataclasses

import numpy as np

from replax._src.dataset.block import Block, Index
from replax._src.dataset.index import as_array
from replax._src.dataset.node import (
    INFINITE,
    UNKNOWN,
    Cursor,
    IndexCursor,
    Node,
    Pass,
    State,
)
from replax._src.dataset.structure import ElementSpec

__all__ = ["Concatenate"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Concatenate(Node):
    """The elements of ``first``, and then those of ``second``."""

    inputs = ("first", "second")
    first: Node
    second: Node

    def label(self) -> str:
        return "concatenate"

    def spec(self) -> ElementSpec:
        first, second = self.first.spec(), self.second.spec()
        if first.treedef != second.treedef:
            return first  # said with the elements when they are read
        return first.joined(second)

    def cardinality(self) -> int:
        sizes = [self.first.cardinality(), self.second.cardinality()]
        if INFINITE in sizes:
            return INFINITE
        return UNKNOWN if UNKNOWN in sizes else sum(sizes)

    @property
    def indexed(self) -> bool:
        return self.first.indexed and self.second.indexed

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _ConcatenateCursor(self, pass_)

    def rows(self, index: Index, pass_: Pass) -> Block:
        size = self.first.cardinality()
        if size == INFINITE or not len(index):
            return self.first.rows(index, pass_)
        numbers = as_array(index)
        in_first = numbers < size
        if in_first.all():
            return self.first.rows(index, pass_)
        if not in_first.any():
            return self.second.rows(numbers - size, pass_)
        both = [
            self.first.rows(numbers[in_first], pass_),
            self.second.rows(numbers[~in_first] - size, pass_),
        ]
        places = np.concatenate([np.flatnonzero(in_first), np.flatnonzero(~in_first)])
        return Block.joined(both).chosen(np.argsort(places))


class _ConcatenateCursor(Cursor):
    def __init__(self, node: Concatenate, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._part = 0
        self._cursor = node.first.open(pass_)

    def take(self, count: int) -> Block | None:
        block = self._cursor.take(count)
        if block is None and self._part == 0:
            self._move_on()
            block = self._cursor.take(count)
        return block

    def _move_on(self) -> None:
        self._cursor.close()
        self._part = 1
        self._cursor = self._node.second.open(self._pass)

    def state(self) -> State:
        return [self._part, self._cursor.state()]

    def restore(self, state: State) -> None:
        part, child_state = state
        if part:
            self._move_on()
        self._cursor.restore(child_state)

    def close(self) -> None:
        self._cursor.close()
