"""``padded_batch``: batches of elements of different shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from replax._src.core.errors import DataLossError, InvalidArgumentError
from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec
from replax._src.dataset.transformations.batch import batches, read_whole

__all__ = ["PaddedBatch", "Padding"]

Shape = tuple[int | None, ...]


@dataclasses.dataclass(frozen=True)
class Padding:
    """How elements are brought to one shape.

    Attributes:
      shapes: For each leaf the shape to pad to, None where the longest element decides;
        or None if that is so for all.
      values: For each leaf what to pad with.
    """

    shapes: Sequence[Shape | None]
    values: Sequence[Any]

    def padded(self, block: Block, number: int) -> Block:
        """A block of one element: the batch of all elements, padded."""
        columns = [
            self._padded(position, list(column), number)[None]
            for position, column in enumerate(block.columns)
        ]
        return Block(block.treedef, columns, 1)

    def _padded(self, position: int, leaves: list[Any], number: int) -> np.ndarray:
        shape = self._shape(position, leaves, number)
        dtype = _common_dtype(leaves, number)
        value = self.values[position]
        if value is None:
            value = b"" if dtype.hasobject else dtype.type()
        elif not _is_held_by(dtype, value):
            msg = (
                f"padded_batch got {value!r} as a padding value for {dtype.name}, "
                f"which cannot hold it; give a padding value of that dtype"
            )
            raise TypeError(msg)
        batch = np.full((len(leaves), *shape), value, dtype)
        for row, leaf in zip(batch, leaves, strict=True):
            if np.ndim(leaf):
                row[tuple(slice(length) for length in leaf.shape)] = leaf
        if not shape:
            batch[:] = leaves
        return batch

    def _shape(self, position: int, leaves: list[Any], number: int) -> tuple[int, ...]:
        shapes = [np.shape(leaf) for leaf in leaves]
        ranks = {len(shape) for shape in shapes}
        wanted = self.shapes[position]
        if wanted is not None:
            ranks.add(len(wanted))
        if len(ranks) > 1:
            msg = (
                f"padded_batch got elements of {min(ranks)} and of {max(ranks)} "
                f"dimensions (from element {number} on); it can pad lengths, but the "
                f"number of dimensions has to be the same"
            )
            raise InvalidArgumentError(msg)
        longest = [max(lengths) for lengths in zip(*shapes, strict=True)]
        if wanted is None:
            return tuple(longest)
        for offset, shape in enumerate(shapes):
            for length, limit in zip(shape, wanted, strict=True):
                if limit is not None and length > limit:
                    msg = (
                        f"element {number + offset} has the shape {list(shape)}, which "
                        f"is longer than the padded shape {list(wanted)}; pad to more, "
                        f"or cut the elements with map first"
                    )
                    raise DataLossError(msg)
        return tuple(
            long if limit is None else limit
            for long, limit in zip(longest, wanted, strict=True)
        )

    def spec(self, child: ElementSpec, size: int | None) -> ElementSpec:
        """The spec of batches of ``child``."""
        leaves: list[Any] = []
        for leaf, wanted in zip(child.leaves, self.shapes, strict=True):
            dims = wanted if wanted is not None else leaf.shape
            known = wanted is not None or leaf.shape.rank is not None
            leaves.append(TensorSpec((size, *dims) if known else None, leaf.dtype))
        return child.with_leaves(leaves)


def _common_dtype(leaves: Sequence[Any], number: int) -> np.dtype[Any]:
    dtypes = [getattr(leaf, "dtype", np.dtype(object)) for leaf in leaves]
    for offset, dtype in enumerate(dtypes):
        if dtype != dtypes[0] and not dtype.kind == dtypes[0].kind in "US":
            msg = (
                f"padded_batch got elements of different dtypes: element {number} is "
                f"{dtypes[0].name}, and element {number + offset} is {dtype.name}; "
                f"map them to one dtype first"
            )
            raise InvalidArgumentError(msg)
    # Strings of NumPy have their length in their dtype.
    return np.result_type(*set(dtypes)) if dtypes[0].kind in "US" else dtypes[0]


def _is_held_by(dtype: np.dtype[Any], value: Any) -> bool:
    if dtype.kind not in "biuf":
        return True
    given = np.asarray(value)
    if given.dtype.kind not in "biuf":
        return False
    if dtype.kind == "f":
        return True
    return bool(np.isfinite(given)) and given.astype(dtype) == given


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class PaddedBatch(Node):
    """``size`` elements at a time, padded to one shape."""

    child: Node
    size: int
    padding: Padding
    drop_remainder: bool = False

    def label(self) -> str:
        more = ", drop_remainder=True" if self.drop_remainder else ""
        return f"padded_batch({self.size}{more})"

    def spec(self) -> ElementSpec:
        size = self.size if self.drop_remainder else None
        return self.padding.spec(self.child.spec(), size)

    def cardinality(self) -> int:
        return batches(
            self.child.cardinality(), self.size, drop_remainder=self.drop_remainder
        )

    def open(self, pass_: Pass) -> Cursor:
        return _PaddedBatchCursor(self.child.open(pass_), self)


class _PaddedBatchCursor(Cursor):
    def __init__(self, child: Cursor, node: PaddedBatch) -> None:
        self._child = child
        self._node = node
        self._number = 0

    def take(self, count: int) -> Block | None:
        del count
        block = read_whole(self._child, self._node.size)
        if block is None:
            return None
        if self._node.drop_remainder and block.size < self._node.size:
            return None
        first = self._number
        self._number += block.size
        return self._node.padding.padded(block, first)

    def state(self) -> State:
        return [self._number, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
