"""``flat_map`` and ``interleave``: datasets that are made from elements, as one."""

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
from replax._src.dataset.structure import ElementSpec

__all__ = ["Interleave", "MakeDataset"]

# A function of users, which gives the node of the dataset that it returned.
MakeDataset = Callable[..., Node]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Interleave(RandomNode):
    """Elements of several made datasets in turn.

    ``cycle_length`` datasets are open at a time, and each gives ``block_length``
    elements when it is its turn. With a cycle of one this is ``flat_map``.

    Attributes:
      make: Makes a dataset of an element.
      cycle_length: How many of them are open at a time.
      block_length: How many elements each gives when it is its turn.
      name: The name of the method.
      parallel: In how many threads open datasets are read ahead.
    """

    child: Node
    make: MakeDataset
    cycle_length: int = 1
    block_length: int = 1
    name: str = "flat_map"
    parallel: int = 0

    def label(self) -> str:
        return self._written(f", num_parallel_calls={self.parallel}")

    def identity(self) -> str:
        return self._written(", ahead")

    def _written(self, parallel: str) -> str:
        function = getattr(self.make, "__name__", "function")
        if self.name == "flat_map":
            return f"flat_map({function})"
        more = parallel if self.parallel else ""
        return (
            f"interleave({function}, cycle_length={self.cycle_length}, "
            f"block_length={self.block_length}{more})"
        )

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        return joined_spec(
            self.child,
            lambda element, number: called(
                self.make, element, number, self.name
            ).spec(),
        )

    def first_made(self) -> Node:
        """The dataset that is made of the first element.

        Raises:
          ValueError: There are no elements.
        """
        return self._first_made

    @functools.cached_property
    def _first_made(self) -> Node:
        cursor = self.child.open((0,))
        try:
            block = cursor.take(1)
        finally:
            cursor.close()
        if block is None:
            msg = f"{self.label()} has no elements to make datasets of"
            raise ValueError(msg)
        return called(self.make, block.element(0), 0, self.name)

    def cardinality(self) -> int:
        return 0 if self.child.cardinality() == 0 else UNKNOWN

    @property
    def pure(self) -> bool:
        return False

    @property
    def varies(self) -> bool:
        return True  # what is made may be shuffled

    def open(self, pass_: Pass) -> Cursor:
        return _InterleaveCursor(self, pass_)


@dataclasses.dataclass
class _Open:
    """A dataset that is being read: which element made it, and its cursor."""

    number: int
    state_before: State
    cursor: Cursor


class _InterleaveCursor(Cursor):
    def __init__(self, node: Interleave, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._child = node.child.open(pass_)
        self._number = 0
        self._slots: list[_Open | None] = [None] * node.cycle_length
        self._turn = 0
        self._given = 0  # of this turn's elements
        self._source_ended = False

    def take(self, count: int) -> Block | None:
        empty_turns = 0
        while empty_turns <= len(self._slots):
            here = self._slots[self._turn]
            if here is None:
                here = self._slots[self._turn] = self._next()
            if here is None:
                empty_turns += 1
                self._next_turn()
                continue
            left = self._node.block_length - self._given
            if len(self._slots) == 1:
                left = count  # nobody else has a turn
            block = here.cursor.take(min(count, left))
            if block is None:
                here.cursor.close()
                self._slots[self._turn] = None
                empty_turns = 0
                if len(self._slots) > 1:
                    self._next_turn()
                continue
            self._given += block.size
            if self._given >= self._node.block_length:
                self._next_turn()
            return block
        return None

    def _next_turn(self) -> None:
        self._turn = (self._turn + 1) % len(self._slots)
        self._given = 0

    def _next(self) -> _Open | None:
        if self._source_ended:
            return None
        before = self._child.state()
        block = self._child.take(1)
        if block is None:
            self._source_ended = True
            return None
        number = self._number
        self._number += 1
        return _Open(number, before, self._made(block, number))

    def _made(self, block: Block, number: int) -> Cursor:
        made = called(self._node.make, block.element(0), number, self._node.name)
        return seeded(made, self._node.seed, number).open((*self._pass, number))

    def state(self) -> State:
        slots: list[Any] = [
            slot and [slot.number, slot.state_before, slot.cursor.state()]
            for slot in self._slots
        ]
        return [self._number, self._turn, self._given, slots, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, self._turn, self._given, slots, child_state = state
        self._child.restore(child_state)
        self._slots = [slot and self._reopened(*slot) for slot in slots]

    def _reopened(self, number: int, before: State, state: State) -> _Open:
        source = self._node.child.open(self._pass)
        try:
            source.restore(before)
            block = source.take(1)
        finally:
            source.close()
        assert block is not None, "an element that was read is not there any more"
        cursor = self._made(block, number)
        cursor.restore(state)
        return _Open(number, before, cursor)

    def close(self) -> None:
        self._child.close()
        for slot in self._slots:
            if slot is not None:
                slot.cursor.close()
