"""``window``: datasets of consecutive elements."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from typing import Any

from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.sources.elements import Elements
from replax._src.dataset.structure import LEAF, ElementSpec, Opaque

__all__ = ["Window"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Window(Node):
    """Elements that are datasets of ``size`` elements each.

    Attributes:
      shift: How far one window begins behind the one before.
      stride: How far apart the elements of a window are.
      drop_remainder: Whether windows at the end that are not full are left out.
      wrap: Makes a dataset of a node, as users see it.
    """

    child: Node
    size: int
    shift: int
    stride: int
    drop_remainder: bool
    wrap: Callable[[Node], Opaque]

    def label(self) -> str:
        return f"window({self.size}, shift={self.shift}, stride={self.stride})"

    def spec(self) -> ElementSpec:
        spec = self.child.spec()
        empty = [self._dataset(column, None) for column in spec.leaves]
        return spec.with_leaves(empty)

    def _dataset(self, spec: Any, column: Any) -> Opaque:
        rows = None if column is None else Block(LEAF, [column], len(column))
        return self.wrap(Elements(element=ElementSpec(LEAF, (spec,)), block=rows))

    def datasets(self, block: Block) -> Block:
        """A block of one element: a dataset for each leaf."""
        spec = ElementSpec.of(block.element(0))
        columns = [
            [self._dataset(leaf, column)]
            for leaf, column in zip(spec.leaves, block.columns, strict=True)
        ]
        return Block(block.treedef, columns, 1)

    def cardinality(self) -> int:
        elements = self.child.cardinality()
        if elements < 0:
            return elements
        if self.drop_remainder:
            span = (self.size - 1) * self.stride + 1
            return max(0, (elements - span) // self.shift + 1)
        return -(-elements // self.shift)

    def open(self, pass_: Pass) -> Cursor:
        return _WindowCursor(self.child.open(pass_), self)


class _WindowCursor(Cursor):
    """Holds the elements from the next window's first one on."""

    def __init__(self, child: Cursor, node: Window) -> None:
        self._child = child
        self._node = node
        # Each with the state of the source before it.
        self._held: deque[tuple[State, Block]] = deque()
        self._to_skip = 0

    def take(self, count: int) -> Block | None:
        del count
        node = self._node
        while self._to_skip and self._child.take(1) is not None:
            self._to_skip -= 1
        self._read((node.size - 1) * node.stride + 1)
        chosen = [block for _, block in self._held][:: node.stride][: node.size]
        if not chosen or (node.drop_remainder and len(chosen) < node.size):
            return None
        for _ in range(node.shift):
            if self._held:
                self._held.popleft()
            else:
                self._to_skip += 1
        return node.datasets(Block.joined(chosen))

    def _read(self, count: int) -> None:
        while len(self._held) < count:
            before = self._child.state()
            block = self._child.take(1)
            if block is None:
                return
            self._held.append((before, block))

    def state(self) -> State:
        first = self._held[0][0] if self._held else self._child.state()
        return [self._to_skip, first]

    def restore(self, state: State) -> None:
        self._to_skip, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
