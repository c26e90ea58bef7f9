"""Consecutive numbers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block, Index
from replax._src.dataset.index import as_array, scaled, shifted
from replax._src.dataset.node import INFINITE, Cursor, IndexCursor, Node, Pass
from replax._src.dataset.structure import LEAF, ElementSpec

__all__ = ["Numbers"]

_INT64 = np.dtype("int64")


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Numbers(Node):
    """``start``, ``start + step``, ...; without ``stop`` there is no end to them."""

    inputs = ()
    start: int
    stop: int | None
    step: int = 1
    dtype: np.dtype[Any] = _INT64

    def label(self) -> str:
        if self.stop is None:
            return f"range({self.start}, ...)"
        given = [self.start, self.stop, self.step]
        if self.step == 1:
            given = given[:2] if self.start else given[1:2]
        return f"range({', '.join(map(str, given))})"

    def spec(self) -> ElementSpec:
        return ElementSpec(LEAF, (TensorSpec((), self.dtype),))

    def cardinality(self) -> int:
        if self.stop is None:
            return INFINITE
        return len(range(self.start, self.stop, self.step))

    def open(self, pass_: Pass) -> Cursor:
        return IndexCursor(self, pass_)

    @property
    def indexed(self) -> bool:
        return True

    def rows(self, index: Index, pass_: Pass) -> Block:
        del pass_
        numbers = as_array(shifted(scaled(index, self.step), self.start))
        return Block(LEAF, [numbers.astype(self.dtype, copy=False)], len(numbers))
