"""The rows of each batch that are one worker's."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block, Index
from replax._src.dataset.node import Cursor, IndexCursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec, TreeDef, leaf_names
from replax._src.dataset.transformations.batch import batches

__all__ = ["BatchPart", "Cut", "Part"]


@dataclasses.dataclass(frozen=True)
class Cut:
    """How a batch is cut into slices of equal length, and which of them are wanted.

    Attributes:
      slices: How many there are; the last ones may be shorter, or empty.
      first: The first one that is wanted.
      count: How many are wanted.
    """

    slices: int
    first: int
    count: int

    def length(self, rows: int) -> int:
        """How many rows a slice has."""
        return -(-rows // self.slices)

    def rows(self, rows: int) -> tuple[int, int]:
        """Where the rows that are wanted begin and end."""
        length = self.length(rows)
        return (
            min(self.first * length, rows),
            min((self.first + self.count) * length, rows),
        )

    def __str__(self) -> str:
        last = self.first + self.count - 1
        which = f"{self.first}" if self.count == 1 else f"{self.first} to {last}"
        return f"{which} of {self.slices}"


def _with_totals(spec: ElementSpec) -> ElementSpec:
    """Elements beside how many rows there are of each of their leaves."""
    totals = [TensorSpec((), np.int64)] * len(spec.leaves)
    return ElementSpec(
        _beside(spec.treedef),
        (*spec.with_leaves(_open(leaf) for leaf in spec.leaves).leaves, *totals),
    )


def _open(leaf: TensorSpec) -> TensorSpec:
    return TensorSpec((None, *leaf.shape[1:]), leaf.dtype) if leaf.shape else leaf


def _beside(treedef: TreeDef) -> TreeDef:
    element = treedef.unflatten([0] * treedef.num_leaves)
    return jax.tree_util.tree_structure((element, (0,) * treedef.num_leaves))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class BatchPart(Node):
    """``batch``, of which only the rows of one worker are read.

    An element comes with the number of rows of the whole batch: from it every worker
    knows what all replicas get.
    """

    child: Node
    size: int
    drop_remainder: bool
    cut: Cut

    def label(self) -> str:
        more = ", drop_remainder=True" if self.drop_remainder else ""
        return f"batch({self.size}{more}) reading slices {self.cut}"

    def spec(self) -> ElementSpec:
        return _with_totals(self.child.spec().batched(None))

    def cardinality(self) -> int:
        return batches(
            self.child.cardinality(), self.size, drop_remainder=self.drop_remainder
        )

    @property
    def indexed(self) -> bool:
        return True

    def open(self, pass_: Pass) -> Cursor:
        return IndexCursor(self, pass_)

    def rows(self, index: Index, pass_: Pass) -> Block:
        return Block.joined([self._part(int(i), pass_) for i in index])

    def _part(self, number: int, pass_: Pass) -> Block:
        end = self.child.cardinality()
        start = number * self.size
        rows = self.size if end < 0 else min(self.size, end - start)
        first, stop = self.cut.rows(rows)
        if first == stop:
            # What the rows look like is known from one that is not wanted.
            part = self.child.rows(range(start, start + 1), pass_).part(0, 0)
        else:
            part = self.child.rows(range(start + first, start + stop), pass_)
        element = part.as_element(start + first)
        totals = [np.array([rows])] * len(element.columns)
        return Block(_beside(element.treedef), [*element.columns, *totals], 1)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Part(Node):
    """The rows of each element that are one worker's; all of them are read.

    An element comes with the numbers of rows of all of each of its leaves.
    """

    child: Node
    cut: Cut

    def label(self) -> str:
        return f"slices({self.cut})"

    def spec(self) -> ElementSpec:
        return _with_totals(self.child.spec())

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _PartCursor(self.child.open(pass_), self)

    def rows(self, index: Index, pass_: Pass) -> Block:
        block = self.child.rows(index, pass_)
        parts = [self.part(block.part(i, i + 1), i) for i in range(block.size)]
        return Block.joined(parts)

    def part(self, element: Block, number: int) -> Block:
        """The worker's rows of one element."""
        columns: list[list[np.ndarray]] = []
        totals: list[np.ndarray] = []
        for position, column in enumerate(element.columns):
            leaf = column[0]
            if not isinstance(leaf, np.ndarray) or not leaf.ndim:
                name = leaf_names(element.treedef)[position]
                msg = (
                    f"element {number} of the dataset has the single value {leaf!r}"
                    f"{' in ' + name if name else ''}, which cannot be split over "
                    f"{self.cut.slices} replicas; call batch(n) on the dataset, with n "
                    f"rows for all replicas together"
                )
                raise IndexError(msg)
            start, stop = self.cut.rows(len(leaf))
            columns.append([leaf[start:stop]])
            totals.append(np.array([len(leaf)]))
        return Block(_beside(element.treedef), [*columns, *totals], 1)


class _PartCursor(Cursor):
    def __init__(self, child: Cursor, node: Part) -> None:
        self._child = child
        self._node = node
        self._number = 0

    def take(self, count: int) -> Block | None:
        del count
        block = self._child.take(1)
        if block is None:
            return None
        self._number += 1
        return self._node.part(block, self._number - 1)

    def state(self) -> State:
        # Of the whole elements: positions do not depend on who reads which part.
        return self._child.state()

    def restore(self, state: State) -> None:
        self._child.restore(state)

    def close(self) -> None:
        self._child.close()
