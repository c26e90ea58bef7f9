"""The plan of a dataset: immutable nodes, and the cursors that read them.

A node says what its elements are, not when they are made. It can be read in two ways:

- *In order*, by a cursor. Every cursor has a position that is a few numbers, from which
  another one of the same plan goes on, in another process too.
- *By number*, if the node is ``indexed``: ``rows`` gives the elements with any numbers,
  so that shuffling, sharding, skipping and resuming move no data and take no time.

Each element belongs to a *pass*: which iteration of the dataset it is, and within that
which round of each ``repeat`` around the node. What is random depends on the pass.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from replax._src.dataset.block import Block, Index
from replax._src.dataset.structure import ElementSpec

__all__ = [
    "INFINITE",
    "UNKNOWN",
    "Cursor",
    "IndexCursor",
    "Node",
    "Pass",
    "Position",
    "State",
    "walk",
]

# Cardinalities that are not numbers of elements.
INFINITE = -1
UNKNOWN = -2

# The number of the iteration, and the rounds of the repeats around a node.
Pass = tuple[int, ...]

# What JSON can hold: the position of a cursor.
State = Any
Position = Any


class Cursor(abc.ABC):
    """A position in the elements of a node, which moves forward."""

    @abc.abstractmethod
    def take(self, count: int) -> Block | None:
        """The next elements: at least one and at most ``count``; None at the end.

        No more of the source is read than these elements need.
        """

    @abc.abstractmethod
    def state(self) -> State:
        """The position, as a few numbers in lists."""

    @abc.abstractmethod
    def restore(self, state: State) -> None:
        """Moves to a position; only a cursor that was not read from is asked to."""

    def close(self) -> None:
        """Releases threads and files; called once, at any time."""
        return


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Node(abc.ABC):
    """One step of a plan."""

    # Names of the fields that hold nodes, or tuples of nodes.
    inputs: ClassVar[tuple[str, ...]] = ("child",)

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes that this one reads."""
        found: list[Node] = []
        for name in self.inputs:
            value = getattr(self, name)
            found.extend(value if isinstance(value, tuple) else [value])
        return tuple(found)

    def with_children(self, children: tuple[Node, ...]) -> Node:
        """The same step over other nodes."""
        remaining = iter(children)
        changes: dict[str, Any] = {}
        for name in self.inputs:
            value = getattr(self, name)
            changes[name] = (
                tuple(next(remaining) for _ in value)
                if isinstance(value, tuple)
                else next(remaining)
            )
        return dataclasses.replace(self, **changes)

    @abc.abstractmethod
    def label(self) -> str:
        """How the step is written, such as ``batch(128)``."""

    def identity(self) -> str:
        """The label without what makes no difference to positions."""
        return self.label()

    @abc.abstractmethod
    def spec(self) -> ElementSpec:
        """What the elements look like."""

    @abc.abstractmethod
    def cardinality(self) -> int:
        """How many elements a pass has; ``INFINITE`` or ``UNKNOWN`` if not a number."""

    @abc.abstractmethod
    def open(self, pass_: Pass) -> Cursor:
        """A cursor at the first element."""

    @property
    def indexed(self) -> bool:
        """Whether elements can be had by their numbers."""
        return False

    def rows(self, index: Index, pass_: Pass) -> Block:
        """The elements with these numbers; only of nodes that are ``indexed``."""
        msg = f"{self.label()} has no elements by number: {index} of pass {pass_}"
        raise AssertionError(msg)

    @property
    def pure(self) -> bool:
        """Whether reading runs no code of users and does not wait for anything."""
        return all(child.pure for child in self.children)

    @property
    def varies(self) -> bool:
        """Whether passes differ from each other."""
        return any(child.varies for child in self.children)

    @property
    def ahead(self) -> bool:
        """Whether something reads ahead, which reading by number would bypass."""
        return any(child.ahead for child in self.children)

    @property
    def in_order(self) -> bool:
        """Whether to read with a cursor of its own rather than by number."""
        return not self.indexed or self.ahead


class IndexCursor(Cursor):
    """Reads an indexed node from one number to the next."""

    def __init__(self, node: Node, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._next = 0
        self._end = node.cardinality()

    def take(self, count: int) -> Block | None:
        start = self._next
        stop = start + count
        if 0 <= self._end < stop:
            stop = self._end
        if start >= stop:
            return None
        # Before reading: after an error the next call goes on behind these.
        self._next = stop
        return self._node.rows(range(start, stop), self._pass)

    def state(self) -> State:
        return self._next

    def restore(self, state: State) -> None:
        self._next = state


def walk(node: Node) -> Iterator[Node]:
    """The node and all that it reads, itself first."""
    yield node
    for child in node.children:
        yield from walk(child)


def rewritten(node: Node, change: Callable[[Node], Node]) -> Node:
    """The plan with every node replaced by what ``change`` makes of it.

    Sources are changed first, and what reads them afterwards.
    """
    children = node.children
    changed = tuple(rewritten(child, change) for child in children)
    if any(a is not b for a, b in zip(children, changed, strict=True)):
        node = node.with_children(changed)
    return change(node)
