"""``unique``: each element once."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from replax._src.dataset.block import Block
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["Unique"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Unique(Node):
    """The elements, whole numbers or strings, without those that were there before."""

    child: Node

    def check(self, element: Any) -> None:
        """Refuses what cannot be compared for sure."""
        if isinstance(element, (bytes, str, np.integer)):
            return
        if np.ndim(element) == 0 and np.asarray(element).dtype.kind in "iuSUO":
            return
        msg = (
            f"unique of {element!r}; it takes single whole numbers and strings: map "
            f"elements to such, or round them, first"
        )
        raise TypeError(msg)

    def label(self) -> str:
        return "unique()"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return 0 if self.child.cardinality() == 0 else UNKNOWN

    def open(self, pass_: Pass) -> Cursor:
        return _UniqueCursor(self, pass_)


class _UniqueCursor(Cursor):
    """Its position is how much was read; what was seen there is read again."""

    def __init__(self, node: Unique, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._child = node.child.open(pass_)
        self._read = 0
        self._seen: set[Any] = set()

    def take(self, count: int) -> Block | None:
        while (block := self._child.take(count)) is not None:
            kept = self._noted(block)
            if kept:
                return block.chosen(np.array(kept))
        return None

    def _noted(self, block: Block) -> list[int]:
        """Which elements were not there before."""
        kept: list[int] = []
        for position, element in enumerate(block.elements()):
            self._node.check(element)
            if element not in self._seen:
                self._seen.add(element)
                kept.append(position)
        self._read += block.size
        return kept

    def state(self) -> State:
        return [self._read, self._child.state()]

    def restore(self, state: State) -> None:
        read, child_state = state
        again = self._node.child.open(self._pass)
        try:
            while self._read < read:
                block = again.take(read - self._read)
                assert block is not None, "an element that was read is not there"
                self._noted(block)
        finally:
            again.close()
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
