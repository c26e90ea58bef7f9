"""``assert_cardinality``: a number of elements that the plan does not tell."""

from __future__ import annotations

import dataclasses

from replax._src.core.errors import FailedPreconditionError
from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["AssertCardinality"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class AssertCardinality(Node):
    """The elements, which are as many as somebody says."""

    child: Node
    expected: int

    def label(self) -> str:
        return f"assert_cardinality({self.expected})"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return self.expected

    def open(self, pass_: Pass) -> Cursor:
        return _CountingCursor(self.child.open(pass_), self.expected)


class _CountingCursor(Cursor):
    def __init__(self, child: Cursor, expected: int) -> None:
        self._child = child
        self._expected = expected
        self._read = 0

    def take(self, count: int) -> Block | None:
        block = self._child.take(count)
        self._read += 0 if block is None else block.size
        if self._read > self._expected or (
            block is None and self._read != self._expected
        ):
            more = "only" if block is None else "more than"
            seen = self._read if block is None else self._expected
            msg = (
                f"assert_cardinality({self._expected}) of a dataset of {more} {seen} "
                f"elements; say how many there are, or leave it out"
            )
            raise FailedPreconditionError(msg)
        return block

    def state(self) -> State:
        return [self._read, self._child.state()]

    def restore(self, state: State) -> None:
        self._read, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
