"""Elements that are at hand, whatever their shapes."""

from __future__ import annotations

import dataclasses

import numpy as np

from replax._src.dataset.block import Block, Index
from replax._src.dataset.index import as_array
from replax._src.dataset.node import Cursor, IndexCursor, Node, Pass
from replax._src.dataset.structure import ElementSpec

__all__ = ["Elements"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Elements(Node):
    """The elements of a block; none if there is no block."""

    inputs = ()
    element: ElementSpec
    block: Block | None

    def label(self) -> str:
        return f"elements({self.cardinality()})"

    def spec(self) -> ElementSpec:
        return self.element

    def cardinality(self) -> int:
        return 0 if self.block is None else self.block.size

    def open(self, pass_: Pass) -> Cursor:
        return IndexCursor(self, pass_)

    @property
    def indexed(self) -> bool:
        return True

    def rows(self, index: Index, pass_: Pass) -> Block:
        del pass_
        assert self.block is not None
        if isinstance(index, range) and index.step == 1:
            return self.block.part(index.start, index.stop)
        return self.block.chosen(np.asarray(as_array(index)))
