"""Rows of arrays that are in memory, or mapped into it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block, Index
from replax._src.dataset.memory import gathered
from replax._src.dataset.node import Cursor, IndexCursor, Node, Pass
from replax._src.dataset.structure import (
    ElementSpec,
    TreeDef,
    as_column,
    flatten,
    leaf_names,
)

__all__ = ["Slices"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Slices(Node):
    """The rows of some arrays of equal length."""

    inputs = ()
    treedef: TreeDef
    columns: Sequence[np.ndarray]
    size: int
    name: str = "from_tensor_slices"

    @classmethod
    def of(cls, tensors: Any) -> Slices:
        """A dataset of the rows of each array in a nest."""
        leaves, treedef = flatten(tensors)
        columns = [as_column(leaf) for leaf in leaves]
        if not columns:
            msg = f"from_tensor_slices got {tensors!r}, in which there is no array"
            raise ValueError(msg)
        size = len(columns[0])
        for column, name in zip(columns, leaf_names(treedef), strict=True):
            if len(column) != size:
                first = leaf_names(treedef)[0]
                msg = (
                    f"from_tensor_slices got arrays of different lengths: {size} rows "
                    f"in {first or 'the first'} and {len(column)} in {name}; give "
                    f"arrays of one length"
                )
                raise ValueError(msg)
        return cls(treedef=treedef, columns=columns, size=size)

    @classmethod
    def of_one(cls, element: Any) -> Slices:
        """A dataset of one element."""
        block = Block.of_element(element)
        columns = [as_column(column) for column in block.columns]
        return cls(treedef=block.treedef, columns=columns, size=1, name="from_tensors")

    def label(self) -> str:
        kinds = ", ".join(f"{c.dtype.name}{list(c.shape)}" for c in self.columns)
        return f"{self.name}({kinds})"

    def spec(self) -> ElementSpec:
        return ElementSpec(
            self.treedef,
            tuple(TensorSpec(c.shape[1:], c.dtype) for c in self.columns),
        )

    def cardinality(self) -> int:
        return self.size

    def open(self, pass_: Pass) -> Cursor:
        return IndexCursor(self, pass_)

    @property
    def indexed(self) -> bool:
        return True

    def rows(self, index: Index, pass_: Pass) -> Block:
        del pass_
        columns: list[np.ndarray]
        if isinstance(index, range):
            rows = slice(index.start, index.stop, index.step)
            columns = [column[rows] for column in self.columns]
        else:
            columns = [gathered(column, index) for column in self.columns]
        return Block(self.treedef, columns, len(index))
