"""``map``: a function of users applied to every element."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any

from replax._src.dataset.block import Block, Index
from replax._src.dataset.calling import Caller, mapped
from replax._src.dataset.look_ahead import LookAheadCursor
from replax._src.dataset.node import Cursor, IndexCursor, Node, Pass, State
from replax._src.dataset.probing import probed_spec
from replax._src.dataset.structure import ElementSpec

__all__ = ["Map"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Map(Node):
    """What ``function`` makes of each element.

    Attributes:
      function: It.
      caller: Calls it for many elements at once, in threads or processes; None to call
        it right here.
      name: How the function is called in the plan.
    """

    child: Node
    function: Callable[..., Any]
    caller: Caller | None = None
    name: str = "map"

    def label(self) -> str:
        how = f", {self.caller}" if self.caller else ""
        return f"{self.name}({_name(self.function)}{how})"

    def identity(self) -> str:
        # How many workers there are may be another number when a program goes on.
        how = ", ahead" if self.caller else ""
        return f"{self.name}({_name(self.function)}{how})"

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        return probed_spec(self.child, self.function)

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    @property
    def pure(self) -> bool:
        return False

    @property
    def ahead(self) -> bool:
        return self.caller is not None or self.child.ahead

    def open(self, pass_: Pass) -> Cursor:
        if not self.in_order:
            return IndexCursor(self, pass_)
        child = self.child.open(pass_)
        if self.caller is None:
            return _MapCursor(child, self.function)
        start = functools.partial(self._start, self.caller)
        return LookAheadCursor(
            child, start, self.caller.workers, self.caller.piece_bytes
        )

    def _start(self, caller: Caller, block: Block, number: int) -> Future[Block]:
        return caller.start(self.function, block, range(number, number + block.size))

    def rows(self, index: Index, pass_: Pass) -> Block:
        block = self.child.rows(index, pass_)
        if self.caller is None or block.size == 1:
            return mapped(self.function, block, index)
        return Block.joined(list(self._in_parts(self.caller, block, index)))

    def _in_parts(self, caller: Caller, block: Block, index: Index) -> Iterator[Block]:
        size = -(-block.size // caller.workers)
        starts = range(0, block.size, size)

        def started(start: int, stop: int) -> Future[Block]:
            return caller.start(
                self.function, block.part(start, stop), index[start:stop]
            )

        futures = [started(start, start + size) for start in starts]
        for start, future in zip(starts, futures, strict=True):
            stop = min(start + size, block.size)
            made = future.result()
            yield made
            if start + made.size < stop:
                # It failed at the next element: its error is what this gives.
                yield started(start + made.size, stop).result()


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


class _MapCursor(Cursor):
    def __init__(self, child: Cursor, function: Callable[..., Any]) -> None:
        self._child = child
        self._function = function
        self._number = 0

    def take(self, count: int) -> Block | None:
        block = self._child.take(count)
        if block is None:
            return None
        numbers: Iterable[int] = range(self._number, self._number + block.size)
        self._number += block.size
        return mapped(self._function, block, numbers)

    def state(self) -> State:
        return [self._number, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, child_state = state
        self._child.restore(child_state)

    def close(self) -> None:
        self._child.close()
