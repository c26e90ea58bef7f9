"""``batch``: consecutive elements as one."""

from __future__ import annotations

import dataclasses

import numpy as np

from replax._src.dataset.block import Block, Index
from replax._src.dataset.node import Cursor, IndexCursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["Batch", "batches", "read_whole"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Batch(Node):
    """``size`` elements at a time, one after the other on a new first axis."""

    child: Node
    size: int
    drop_remainder: bool = False

    def label(self) -> str:
        more = ", drop_remainder=True" if self.drop_remainder else ""
        return f"batch({self.size}{more})"

    def spec(self) -> ElementSpec:
        return self.child.spec().batched(self.size if self.drop_remainder else None)

    def cardinality(self) -> int:
        return batches(
            self.child.cardinality(), self.size, drop_remainder=self.drop_remainder
        )

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _BatchCursor(
            self.child.open(pass_), self.size, drop_remainder=self.drop_remainder
        )

    def rows(self, index: Index, pass_: Pass) -> Block:
        size, end = self.size, self.child.cardinality()
        if len(index) == 1:
            start = int(index[0]) * size
            stop = start + size if end < 0 else min(start + size, end)
            return self.child.rows(range(start, stop), pass_).as_element(start)
        if isinstance(index, range) and index.step == 1:
            start, stop = index[0] * size, (index[-1] + 1) * size
            if end < 0 or stop <= end:
                block = self.child.rows(range(start, stop), pass_)
                if all(isinstance(column, np.ndarray) for column in block.columns):
                    return self._cut(block)
        return Block.joined(
            [self.rows(range(i, i + 1), pass_) for i in map(int, index)]
        )

    def _cut(self, block: Block) -> Block:
        """Whole batches, cut out of what all of them are made of."""
        count = block.size // self.size
        columns = [
            np.reshape(column, (count, self.size, *np.shape(column)[1:]))
            for column in block.columns
        ]
        return Block(block.treedef, columns, count)


def batches(elements: int, size: int, *, drop_remainder: bool) -> int:
    """How many batches so many elements make."""
    if elements < 0:
        return elements
    return elements // size if drop_remainder else -(-elements // size)


def read_whole(cursor: Cursor, size: int) -> Block | None:
    """``size`` elements in one block; fewer only at the end, None if there are none."""
    block = cursor.take(size)
    if block is None or block.size == size:
        return block
    blocks = [block]
    missing = size - block.size
    while missing and (block := cursor.take(missing)) is not None:
        blocks.append(block)
        missing -= block.size
    return Block.joined(blocks)


class _BatchCursor(Cursor):
    def __init__(self, child: Cursor, size: int, *, drop_remainder: bool) -> None:
        self._child = child
        self._size = size
        self._drop_remainder = drop_remainder
        self._number = 0

    def take(self, count: int) -> Block | None:
        del count
        block = read_whole(self._child, self._size)
        if block is None or (self._drop_remainder and block.size < self._size):
            return None
        first = self._number
        self._number += block.size
        return block.as_element(first)

    def state(self) -> State:
        return [self._number, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()


def split_rows(block: Block, number: int) -> Block:
    """The rows of one element, as elements.

    Args:
      block: The element.
      number: Which element it is, for the error.
    """
    leaves = [column[0] for column in block.columns]
    sizes = {leaf.shape[0] if np.ndim(leaf) else None for leaf in leaves}
    if len(sizes) != 1 or None in sizes:
        shapes = ", ".join(str(list(np.shape(leaf))) for leaf in leaves)
        msg = (
            f"element {number} has leaves of the shapes {shapes}, which cannot be "
            f"taken apart into rows; every leaf needs a first axis of one length"
        )
        raise ValueError(msg)
    return Block(block.treedef, leaves, sizes.pop() or 0)
