"""``take``, ``skip`` and ``shard``: some of the elements, by their numbers."""

from __future__ import annotations

import dataclasses

import numpy as np

from replax._src.core.errors import FailedPreconditionError
from replax._src.dataset.block import Block, Index
from replax._src.dataset.index import scaled, shifted
from replax._src.dataset.node import (
    INFINITE,
    UNKNOWN,
    Cursor,
    IndexCursor,
    Node,
    Pass,
    State,
)
from replax._src.dataset.options import SHARD_HINT
from replax._src.dataset.structure import ElementSpec

__all__ = ["Shard", "Skip", "Take"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Take(Node):
    """The first ``count`` elements; all of them if it is -1."""

    child: Node
    count: int

    def label(self) -> str:
        return f"take({self.count})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        elements = self.child.cardinality()
        if self.count < 0 or self.count == 0:
            return elements if self.count else 0
        if elements == INFINITE:
            return self.count
        return elements if elements < 0 else min(elements, self.count)

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _TakeCursor(self.child.open(pass_), self.count)

    def rows(self, index: Index, pass_: Pass) -> Block:
        return self.child.rows(index, pass_)


class _TakeCursor(Cursor):
    def __init__(self, child: Cursor, count: int) -> None:
        self._child = child
        self._count = count
        self._given = 0

    def take(self, count: int) -> Block | None:
        if self._count >= 0:
            count = min(count, self._count - self._given)
        block = self._child.take(count) if count else None
        if block is not None:
            self._given += block.size
        return block

    def state(self) -> State:
        return [self._given, self._child.state()]

    def restore(self, state: State) -> None:
        self._given, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Skip(Node):
    """All but the first ``count`` elements; none if it is -1."""

    child: Node
    count: int

    def label(self) -> str:
        return f"skip({self.count})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        if self.count < 0:
            return 0
        elements = self.child.cardinality()
        return elements if elements < 0 else max(0, elements - self.count)

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _SkipCursor(self.child.open(pass_), self.count)

    def rows(self, index: Index, pass_: Pass) -> Block:
        return self.child.rows(shifted(index, self.count), pass_)


class _SkipCursor(Cursor):
    def __init__(self, child: Cursor, count: int) -> None:
        self._child = child
        self._left = count

    def take(self, count: int) -> Block | None:
        if self._left < 0:
            return None
        while self._left:
            # In pieces: what is skipped is made, and need not all be held.
            block = self._child.take(min(self._left, 1024))
            if block is None:
                self._left = 0
                return None
            self._left -= block.size
        return self._child.take(count)

    def state(self) -> State:
        return [self._left, self._child.state()]

    def restore(self, state: State) -> None:
        self._left, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Shard(Node):
    """Every ``shards``-th element, from ``shard`` on.

    Attributes:
      shards: How many shards there are; ``SHARD_HINT`` to be told when it is shared.
      shard: Which one this is.
    """

    child: Node
    shards: int
    shard: int

    def label(self) -> str:
        if self.shards == SHARD_HINT:
            return "shard(SHARD_HINT, SHARD_HINT)"
        return f"shard({self.shards}, {self.shard})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        elements = self.child.cardinality()
        if elements < 0:
            return elements
        if self.shards == SHARD_HINT:
            return UNKNOWN
        return len(range(self.shard, elements, self.shards))

    @property
    def indexed(self) -> bool:
        return self.child.indexed and self.shards != SHARD_HINT

    def open(self, pass_: Pass) -> Cursor:
        if self.shards == SHARD_HINT:
            msg = (
                f"{self.label()} does not say how many shards there are, and nobody "
                f"has shared the dataset; give it to a strategy under "
                f"AutoShardPolicy.HINT, or give shard() two numbers"
            )
            raise FailedPreconditionError(msg)
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _ShardCursor(self.child.open(pass_), self)

    def rows(self, index: Index, pass_: Pass) -> Block:
        return self.child.rows(shifted(scaled(index, self.shards), self.shard), pass_)


class _ShardCursor(Cursor):
    def __init__(self, child: Cursor, node: Shard) -> None:
        self._child = child
        self._node = node
        self._read = 0

    def take(self, count: int) -> Block | None:
        shards, shard = self._node.shards, self._node.shard
        while True:
            # Up to the last of those that are wanted, and not beyond it.
            until_next = (shard - self._read) % shards + 1
            block = self._child.take(until_next + (count - 1) * shards)
            if block is None:
                return None
            first = (shard - self._read) % shards
            self._read += block.size
            if first < block.size:
                return block.chosen(np.arange(first, block.size, shards))

    def state(self) -> State:
        return [self._read, self._child.state()]

    def restore(self, state: State) -> None:
        self._read, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
