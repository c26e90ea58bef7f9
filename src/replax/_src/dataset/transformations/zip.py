"""``zip``: the elements of several datasets side by side."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax

from replax._src.dataset.block import Block, Index
from replax._src.dataset.node import (
    INFINITE,
    UNKNOWN,
    Cursor,
    IndexCursor,
    Node,
    Pass,
    State,
)
from replax._src.dataset.structure import LEAF, ElementSpec, TreeDef
from replax._src.dataset.transformations.batch import read_whole

__all__ = ["Zip"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Zip(Node):
    """Elements that are a nest of the elements of ``parts``; as many as the shortest.

    Attributes:
      parts: The datasets.
      nest: Their structure.
    """

    inputs = ("parts",)
    parts: tuple[Node, ...]
    nest: TreeDef
    name: str = "zip"

    def label(self) -> str:
        return f"{self.name}({len(self.parts)} datasets)"

    def spec(self) -> ElementSpec:
        specs = [part.spec() for part in self.parts]
        leaves = [leaf for spec in specs for leaf in spec.leaves]
        return ElementSpec(self._treedef([s.treedef for s in specs]), tuple(leaves))

    def _treedef(self, treedefs: Sequence[TreeDef]) -> TreeDef:
        if all(treedef == LEAF for treedef in treedefs):
            return self.nest
        trees = [treedef.unflatten([0] * treedef.num_leaves) for treedef in treedefs]
        return jax.tree_util.tree_structure(self.nest.unflatten(trees))

    def cardinality(self) -> int:
        sizes = [part.cardinality() for part in self.parts]
        if 0 in sizes:
            return 0
        if UNKNOWN in sizes:
            return UNKNOWN
        known = [size for size in sizes if size >= 0]
        return min(known) if known else INFINITE

    @property
    def indexed(self) -> bool:
        return all(part.indexed for part in self.parts)

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        return _ZipCursor([part.open(pass_) for part in self.parts], self)

    def rows(self, index: Index, pass_: Pass) -> Block:
        return self.joined([part.rows(index, pass_) for part in self.parts])

    def joined(self, blocks: Sequence[Block]) -> Block:
        """Elements side by side."""
        columns = [column for block in blocks for column in block.columns]
        return Block(
            self._treedef([b.treedef for b in blocks]), columns, blocks[0].size
        )


class _ZipCursor(Cursor):
    def __init__(self, parts: list[Cursor], node: Zip) -> None:
        self._parts = parts
        self._node = node

    def take(self, count: int) -> Block | None:
        blocks: list[Block] = []
        for part in self._parts:
            block = part.take(count) if not blocks else read_whole(part, count)
            if block is None:
                return None
            # Of the others no more is read than the first has had.
            count = block.size
            blocks.append(block)
        return self._node.joined([block.part(0, count) for block in blocks])

    def state(self) -> State:
        return [part.state() for part in self._parts]

    def restore(self, state: State) -> None:
        for part, part_state in zip(self._parts, state, strict=True):
            part.restore(part_state)

    def close(self) -> None:
        for part in self._parts:
            part.close()
