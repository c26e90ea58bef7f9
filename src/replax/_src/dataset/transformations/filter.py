"""``filter`` and ``take_while``: the elements for which a function is true."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from replax._src.dataset.block import Block
from replax._src.dataset.calling import called
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["Filter"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Filter(Node):
    """The elements for which ``predicate`` is true.

    Attributes:
      predicate: The function.
      until_false: Whether the first one for which it is not is the end.
    """

    child: Node
    predicate: Callable[..., Any]
    until_false: bool = False

    @property
    def name(self) -> str:
        """The name of the method."""
        return "take_while" if self.until_false else "filter"

    def label(self) -> str:
        name = getattr(self.predicate, "__name__", type(self.predicate).__name__)
        return f"{self.name}({name})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return 0 if self.child.cardinality() == 0 else UNKNOWN

    @property
    def pure(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        return _FilterCursor(self.child.open(pass_), self)


class _FilterCursor(Cursor):
    def __init__(self, child: Cursor, node: Filter) -> None:
        self._child = child
        self._node = node
        self._number = 0
        self._ended = False

    def take(self, count: int) -> Block | None:
        while not self._ended:
            # What follows the one at which to end is not to be read.
            block = self._child.take(1 if self._node.until_false else count)
            if block is None:
                return None
            first = self._number
            self._number += block.size
            kept = np.array(
                [
                    self._is_kept(element, first + offset)
                    for offset, element in enumerate(block.elements())
                ]
            )
            if kept.all():
                return block
            self._ended = self._node.until_false
            if kept.any():
                return block.chosen(np.flatnonzero(kept))
        return None

    def _is_kept(self, element: Any, number: int) -> bool:
        answer = called(self._node.predicate, element, number, self._node.name)
        if isinstance(answer, (bool, np.bool_)):
            return bool(answer)
        array = np.asarray(answer)
        if array.shape != () or array.dtype != np.bool_:
            msg = (
                f"the function of {self._node.name} gave {answer!r} for element "
                f"{number}; it has to give one True or False"
            )
            raise ValueError(msg)
        return bool(array)

    def state(self) -> State:
        return [self._number, int(self._ended), self._child.state()]

    def restore(self, state: State) -> None:
        self._number, ended, child_state = state
        self._ended = bool(ended)
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
