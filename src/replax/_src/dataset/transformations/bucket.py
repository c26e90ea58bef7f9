"""``bucket_by_sequence_length``: batches of elements of about the same length."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block
from replax._src.dataset.calling import called
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec
from replax._src.dataset.transformations.padded_batch import Padding

__all__ = ["Bucket"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Bucket(Node):
    """Padded batches, each of elements whose lengths lie between two boundaries.

    Attributes:
      length_of: Gives the length of an element.
      boundaries: The lengths at which the next bucket begins.
      sizes: How many elements a batch of each bucket has; one more than boundaries.
      padding: How elements are padded; None to leave them as they are.
      to_boundary: Whether to pad to the bucket's boundary rather than the longest.
      drop_remainder: Whether batches at the end that are not full are left out.
    """

    child: Node
    length_of: Callable[..., Any]
    boundaries: Sequence[int]
    sizes: Sequence[int]
    padding: Padding | None
    to_boundary: bool
    drop_remainder: bool

    def label(self) -> str:
        return f"bucket_by_sequence_length({list(self.boundaries)}, {list(self.sizes)})"

    def spec(self) -> ElementSpec:
        if self.padding is None:
            return self.child.spec().batched(None)
        spec = self.padding.spec(self.child.spec(), None)
        if not self.to_boundary:
            return spec
        return spec.with_leaves(
            TensorSpec([None] * len(leaf.shape), leaf.dtype) for leaf in spec.leaves
        )

    def cardinality(self) -> int:
        return 0 if self.child.cardinality() == 0 else UNKNOWN

    @property
    def pure(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        return _BucketCursor(self, pass_)

    def batch(self, bucket: int, rows: Block, number: int) -> Block:
        """One batch of a bucket."""
        padding = self.padding
        if padding is None:
            return rows.as_element(number)
        if self.to_boundary and bucket < len(self.boundaries):
            length = self.boundaries[bucket] - 1
            shapes = [
                tuple(length if d is None else d for d in shape)
                for shape in self._shapes(padding)
            ]
            padding = Padding(shapes, padding.values)
        return padding.padded(rows, number)

    def _shapes(self, padding: Padding) -> Iterator[Sequence[int | None]]:
        """The shapes to pad to, with the lengths open that are the bucket's."""
        for shape, leaf in zip(padding.shapes, self.child.spec().leaves, strict=True):
            yield leaf.shape if shape is None else shape


class _BucketCursor(Cursor):
    """Holds the elements of batches that are not full yet."""

    def __init__(self, node: Bucket, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._child = node.child.open(pass_)
        self._number = 0
        # For each bucket its elements, each with the state of the source before it.
        self._held: list[list[tuple[State, Block]]] = [[] for _ in node.sizes]
        self._ended = False

    def take(self, count: int) -> Block | None:
        del count
        node = self._node
        while not self._ended:
            before = self._child.state()
            block = self._child.take(1)
            if block is None:
                self._ended = True
                break
            bucket = self._bucket_of(block.element(0))
            held = self._held[bucket]
            held.append((before, block))
            if len(held) == node.sizes[bucket]:
                return self._emptied(bucket)
        for bucket, held in enumerate(self._held):
            if held and not node.drop_remainder:
                return self._emptied(bucket)
        return None

    def _bucket_of(self, element: Any) -> int:
        length = called(
            self._node.length_of, element, self._number, "bucket_by_sequence_length"
        )
        self._number += 1
        return bisect_right(self._node.boundaries, int(length))

    def _emptied(self, bucket: int) -> Block:
        rows = Block.joined([block for _, block in self._held[bucket]])
        self._held[bucket] = []
        return self._node.batch(bucket, rows, self._number)

    def state(self) -> State:
        held = [[before for before, _ in bucket] for bucket in self._held]
        return [self._number, held, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, held, child_state = state
        self._child.restore(child_state)
        self._held = [[self._reread(before) for before in bucket] for bucket in held]

    def _reread(self, before: State) -> tuple[State, Block]:
        source = self._node.child.open(self._pass)
        try:
            source.restore(before)
            block = source.take(1)
        finally:
            source.close()
        assert block is not None, "an element that was read is not there any more"
        return before, block

    def close(self) -> None:
        self._child.close()
