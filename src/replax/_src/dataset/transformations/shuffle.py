"""``shuffle``: elements in random order."""

from __future__ import annotations

import dataclasses
import functools
from collections import deque
from typing import Any

import numpy as np

from replax._src.dataset.block import Block, Column, Index
from replax._src.dataset.node import (
    INFINITE,
    Cursor,
    IndexCursor,
    Node,
    Pass,
    State,
)
from replax._src.dataset.seeding import RandomNode
from replax._src.dataset.shuffling import (
    Key,
    Order,
    Orders,
    Slots,
    full_order,
    key_of,
    windowed_order,
)
from replax._src.dataset.structure import ElementSpec

__all__ = ["Shuffle"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Shuffle(RandomNode):
    """The elements of ``child`` in random order.

    Of an indexed child only numbers are shuffled. Another one is read into a buffer.

    Attributes:
      reshuffle: Whether each pass has an order of its own.
    """

    child: Node
    buffer_size: int
    reshuffle: bool

    def label(self) -> str:
        more = f", seed={self.chance.seed}" if self.chance.seeded else ""
        more += "" if self.reshuffle else ", reshuffle_each_iteration=False"
        return f"shuffle({self.buffer_size}{more})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    @property
    def varies(self) -> bool:
        return self.reshuffle or self.child.varies

    def open(self, pass_: Pass) -> Cursor:
        if self.indexed:
            return IndexCursor(self, pass_)
        return _ShuffleCursor(self.child.open(pass_), self.key(pass_), self.buffer_size)

    def rows(self, index: Index, pass_: Pass) -> Block:
        order = self._orders.of(pass_ if self.reshuffle else (), self._order)
        return self.child.rows(order.at(index), pass_)

    def key(self, pass_: Pass) -> Key:
        """What the order of a pass depends on."""
        return key_of(self.seed, *(pass_ if self.reshuffle else ()))

    # It holds no method of this: orders are large, and a cycle would keep them.
    @functools.cached_property
    def _orders(self) -> Orders:
        return Orders()

    def _order(self, pass_: Pass) -> Order:
        size = self.child.cardinality()
        if 0 <= size <= self.buffer_size:
            return full_order(self.key(pass_), size)
        return windowed_order(
            self.key(pass_), None if size == INFINITE else size, self.buffer_size
        )


class _ShuffleCursor(Cursor):
    """Holds the buffer; its position is a number, and from where to read it again."""

    def __init__(self, child: Cursor, key: Key, size: int) -> None:
        self._child = child
        self._key = key
        self._size = size
        self._slots: Slots | None = None  # None until the buffer has been filled
        self._buffer: _Buffer | None = None
        self._filling: list[Block] = []  # what the buffer is going to hold
        self._read = 0
        self._read_to_end = False
        # The order in which what is left leaves the buffer, and how far that is.
        self._leaving: np.ndarray | None = None
        self._left = 0
        # From where elements can be read again, oldest first: (number, state).
        self._anchors: deque[tuple[int, State]] = deque()
        self._end: State | None = None  # where this was restored to, if at the end

    def take(self, count: int) -> Block | None:
        if self._slots is None:
            self._fill()
        if self._leaving is None:
            block = self._read_block(count)
            if block is not None:
                return self._exchanged(block)
        return self._rest(count)

    def _fill(self) -> None:
        while self._read < self._size and not self._read_to_end:
            block = self._read_block(self._size - self._read)
            if block is not None:
                self._filling.append(block)
        if self._filling:
            self._buffer = _Buffer(Block.joined(self._filling))
            self._filling = []
        self._slots = Slots(self._key, max(1, min(self._size, self._read)))

    def _read_block(self, count: int) -> Block | None:
        anchors = self._anchors
        if not anchors or self._read - anchors[-1][0] >= max(1, self._size // 2):
            anchors.append((self._read, self._child.state()))
        block = None if self._read_to_end else self._child.take(count)
        if block is None:
            self._read_to_end = True
        else:
            self._read += block.size
        return block

    def _exchanged(self, block: Block) -> Block:
        assert self._slots is not None
        assert self._buffer is not None
        return self._buffer.exchange(block, *self._slots.advance(block.size))

    def _rest(self, count: int) -> Block | None:
        if self._buffer is None:
            return None
        if self._leaving is None:
            assert self._slots is not None
            self._leaving = self._slots.emptied()
        chosen = self._leaving[self._left : self._left + count]
        if not len(chosen):
            return None
        self._left += len(chosen)
        return self._buffer.rows(chosen)

    def state(self) -> State:
        if self._end is not None:
            return self._end
        if self._slots is None or self._buffer is None:
            first = self._anchors[0][1] if self._anchors else self._child.state()
            return [0, 0, 0, first]
        # What has been given needs not be read again.
        held = self._slots.numbers
        if self._leaving is not None:
            held = held[self._leaving[self._left :]]
        oldest = int(held.min()) if len(held) else self._read
        while len(self._anchors) > 1 and self._anchors[1][0] <= oldest:
            self._anchors.popleft()
        number, state = self._anchors[0]
        return [self._slots.step, self._left, number, state]

    def restore(self, state: State) -> None:
        step, left, number, child_state = state
        self._child.restore(child_state)
        if number == step == left == 0:
            return
        self._read = number
        self._anchors.append((number, child_state))
        slots = self._slots = Slots(self._key, self._size, step)
        pieces: list[Block] = []
        numbers: list[np.ndarray] = []
        while self._read < slots.size + step and not self._read_to_end:
            first = self._read
            block = self._read_block(min(1024, slots.size + step - first))
            if block is None:
                break
            held = np.flatnonzero(
                (slots.numbers >= first) & (slots.numbers < first + block.size)
            )
            pieces.append(block.chosen(slots.numbers[held] - first))
            numbers.append(held)
        if not pieces:
            self._end = state
            return
        places = np.concatenate(numbers)
        if self._read < slots.size and step == 0:
            # A source shorter than the buffer.
            slots = self._slots = Slots(self._key, self._read)
        rows = Block.joined(pieces).chosen(np.argsort(places))
        self._buffer = _Buffer(_padded(rows, places, slots.size))
        if left:
            self._leaving = slots.emptied()
            self._left = left

    def close(self) -> None:
        self._child.close()


def _padded(rows: Block, places: np.ndarray, size: int) -> Block:
    """``rows`` at their places among ``size`` slots.

    Slots whose elements lie before where reading began again have been given already;
    anything may stand there.
    """
    if len(places) == size:
        return rows
    filler = np.zeros(size, np.int64)
    filler[np.sort(places)] = np.arange(len(places))
    return rows.chosen(filler)


class _Buffer:
    """The elements in the slots, column by column."""

    def __init__(self, block: Block) -> None:
        self._treedef = block.treedef
        self._columns: list[Column] = [
            # Columns of sources are not ours to write to.
            c.copy() if isinstance(c, np.ndarray) else list(c)
            for c in block.columns
        ]

    def rows(self, slots: np.ndarray) -> Block:
        """What lies in some slots."""
        block = Block(self._treedef, self._columns, len(slots))
        return block.chosen(slots)

    def exchange(self, block: Block, slots: np.ndarray, earlier: np.ndarray) -> Block:
        """Puts the elements of a block into slots; gives what lay there."""
        if block.treedef != self._treedef:
            Block.joined([self.rows(slots[:1]), block])  # says how they differ
        columns = [
            self._exchange_column(position, new, slots, earlier)
            for position, new in enumerate(block.columns)
        ]
        return Block(self._treedef, columns, block.size)

    def _exchange_column(
        self, position: int, new: Column, slots: np.ndarray, earlier: np.ndarray
    ) -> Column:
        held = self._columns[position]
        if not _is_uniform(held, new):
            held = self._columns[position] = list(held)
            given: list[Any] = []
            for slot, leaf in zip(slots, new, strict=True):
                given.append(held[slot])
                held[slot] = leaf
            return given
        given_rows = held.take(slots, 0)  # type: ignore[union-attr]
        again = earlier >= 0
        given_rows[again] = new[earlier[again]]
        held[slots] = new
        return given_rows


def _is_uniform(held: Column, new: Column) -> bool:
    return (
        isinstance(held, np.ndarray)
        and isinstance(new, np.ndarray)
        and held.dtype == new.dtype
        and held.shape[1:] == new.shape[1:]
    )
