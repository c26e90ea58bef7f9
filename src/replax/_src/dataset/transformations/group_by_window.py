"""``group_by_window``: datasets of the elements that have a key in common."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from replax._src.dataset.block import Block
from replax._src.dataset.calling import called
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.probing import joined_spec
from replax._src.dataset.seeding import RandomNode, seeded
from replax._src.dataset.sources.elements import Elements
from replax._src.dataset.structure import ElementSpec

__all__ = ["GroupByWindow"]

_NAME = "group_by_window"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class GroupByWindow(RandomNode):
    """The elements of the datasets that ``make`` gives for windows of each key.

    Attributes:
      key_of: Gives the key of an element, a whole number.
      size_of: Gives for a key how many elements a window has.
      make: Makes a dataset of a key and the node of a window.
    """

    child: Node
    key_of: Callable[..., Any]
    size_of: Callable[[int], int]
    make: Callable[[int, Node], Node]

    def label(self) -> str:
        return f"{_NAME}({getattr(self.key_of, '__name__', 'function')})"

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        return joined_spec(self.child, self._spec_of_one)

    def _spec_of_one(self, element: Any, number: int) -> ElementSpec:
        key = self.key(element, number)
        return self.make(key, self.window(Block.of_element(element))).spec()

    def key(self, element: Any, number: int) -> int:
        """The key of an element."""
        return int(called(self.key_of, element, number, _NAME))

    def window(self, block: Block) -> Node:
        """The elements of a window."""
        return Elements(element=self.child.spec(), block=block)

    def cardinality(self) -> int:
        return 0 if self.child.cardinality() == 0 else UNKNOWN

    @property
    def pure(self) -> bool:
        return False

    @property
    def varies(self) -> bool:
        return True  # what is made may be shuffled

    def open(self, pass_: Pass) -> Cursor:
        return _GroupCursor(self, pass_)


# The elements of a window, each with the state of the source before it.
_Held = list[tuple[State, Block]]


class _GroupCursor(Cursor):
    """Holds the elements of windows that are not full, and of the one that is read."""

    def __init__(self, node: GroupByWindow, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._child = node.child.open(pass_)
        self._number = 0
        self._windows = 0
        self._held: dict[int, _Held] = {}
        self._sizes: dict[int, int] = {}
        self._reading: tuple[int, _Held, Cursor] | None = None
        self._ended = False

    def take(self, count: int) -> Block | None:
        while True:
            if self._reading is not None:
                block = self._reading[2].take(count)
                if block is not None:
                    return block
                self._reading[2].close()
                self._reading = None
            key = self._next_key()
            if key is None:
                return None
            self._read(key, self._held.pop(key))
            self._sizes.pop(key, None)

    def _next_key(self) -> int | None:
        """The key of the next window: one that is full, or at the end any."""
        while not self._ended:
            before = self._child.state()
            block = self._child.take(1)
            if block is None:
                self._ended = True
                break
            key = self._node.key(block.element(0), self._number)
            self._number += 1
            held = self._held.setdefault(key, [])
            held.append((before, block))
            if len(held) == self._size(key):
                return key
        return min(self._held, default=None)

    def _size(self, key: int) -> int:
        if key not in self._sizes:
            self._sizes[key] = self._node.size_of(key)
        return self._sizes[key]

    def _read(self, key: int, held: _Held) -> None:
        window = self._node.window(Block.joined([block for _, block in held]))
        made = seeded(self._node.make(key, window), self._node.seed, self._windows)
        self._reading = (key, held, made.open((*self._pass, self._windows)))
        self._windows += 1

    def state(self) -> State:
        held = [[key, [s for s, _ in rows]] for key, rows in self._held.items()]
        reading = None
        if self._reading is not None:
            key, rows, cursor = self._reading
            reading = [key, [s for s, _ in rows], cursor.state()]
        counts = [self._number, self._windows, int(self._ended)]
        return [counts, held, reading, self._child.state()]

    def restore(self, state: State) -> None:
        counts, held, reading, child_state = state
        self._number, self._windows, ended = counts
        self._ended = bool(ended)
        self._child.restore(child_state)
        self._held = {key: self._reread(befores) for key, befores in held}
        if reading is not None:
            key, befores, cursor_state = reading
            self._windows -= 1
            self._read(key, self._reread(befores))
            assert self._reading is not None
            self._reading[2].restore(cursor_state)

    def _reread(self, befores: list[State]) -> _Held:
        held: _Held = []
        for before in befores:
            source = self._node.child.open(self._pass)
            try:
                source.restore(before)
                block = source.take(1)
            finally:
                source.close()
            assert block is not None, "an element that was read is not there any more"
            held.append((before, block))
        return held

    def close(self) -> None:
        self._child.close()
        if self._reading is not None:
            self._reading[2].close()
