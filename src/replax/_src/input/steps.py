"""What each replica gets at each step, still on the host."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from replax._src.dataset.block import Block, Column
from replax._src.dataset.node import Cursor
from replax._src.dataset.structure import TreeDef, leaf_names
from replax._src.input.split import part_length

__all__ = ["HostStep", "Rows", "Split", "Steps", "Whole"]

Shape = tuple[int, ...]


class Rows:
    """The rows of one leaf, one replica after the other.

    Args:
      array: All rows; a view of the batch they come from.
      length: How many of them a replica gets; the last ones may get fewer, or none.
      replicas: How many replicas there are.
    """

    __slots__ = ("array", "length", "replicas")

    def __init__(self, array: np.ndarray, length: int, replicas: int) -> None:
        self.array = array
        self.length = length
        self.replicas = replicas

    @property
    def is_even(self) -> bool:
        """Whether every replica has the same number of rows."""
        return len(self.array) == self.length * self.replicas

    def of(self, replica: int) -> np.ndarray:
        """The rows of one replica: a view."""
        start = replica * self.length
        return self.array[start : start + self.length]

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The shape of what each replica gets."""
        return tuple(self.of(i).shape for i in range(self.replicas))


class HostStep:
    """What the replicas of this process get at one step.

    Attributes:
      treedef: The structure of an element.
      leaves: For each leaf its rows, or a list of what each replica gets.
    """

    __slots__ = ("leaves", "treedef")

    # Of things made ahead, steps are counted.
    size = 1

    def __init__(self, treedef: TreeDef, leaves: Sequence[Rows | list[Any]]) -> None:
        self.treedef = treedef
        self.leaves = leaves


class Steps(abc.ABC):
    """The steps of one iteration, in order."""

    @abc.abstractmethod
    def take(self, count: int) -> HostStep | None:
        """The next step; None at the end."""

    @abc.abstractmethod
    def state(self) -> Any:
        """The position in the dataset, which is the same for any number of replicas."""

    @abc.abstractmethod
    def close(self) -> None:
        """Releases threads and files."""


class Split(Steps):
    """Each element is a batch over all replicas, and is cut into their parts.

    Args:
      elements: The batches.
      replicas: Over how many replicas each is split.
    """

    def __init__(self, elements: Cursor, replicas: int) -> None:
        self._elements = elements
        self._replicas = replicas
        self._number = 0

    def take(self, count: int) -> HostStep | None:
        del count
        block = self._elements.take(1)
        if block is None:
            return None
        self._number += 1
        leaves = [
            self._cut(column, position, block)
            for position, column in enumerate(block.columns)
        ]
        return HostStep(block.treedef, leaves)

    def _cut(self, column: Column, position: int, block: Block) -> Rows | list[Any]:
        leaf = column[0]
        if self._replicas == 1:
            return [leaf]
        if not isinstance(leaf, np.ndarray) or not leaf.ndim:
            name = leaf_names(block.treedef)[position]
            msg = (
                f"element {self._number - 1} of the dataset has the single value "
                f"{leaf!r}{' in ' + name if name else ''}, which cannot be split over "
                f"{self._replicas} replicas; call batch(n) on the dataset, with n rows "
                f"for all replicas together"
            )
            raise ValueError(msg)
        return Rows(leaf, part_length(len(leaf), self._replicas), self._replicas)

    def state(self) -> Any:
        return self._elements.state()

    def close(self) -> None:
        self._elements.close()


class Whole(Steps):
    """Each replica gets whole elements; those that come too late get empty ones.

    Args:
      sources: The datasets: one that the replicas share, or one for each of them.
      replicas: How many replicas this process has.
    """

    def __init__(self, sources: Sequence[Cursor], replicas: int) -> None:
        self._sources = sources
        self._replicas = replicas
        self._number = 0
        self._ended = False

    def take(self, count: int) -> HostStep | None:
        del count
        if self._ended:
            return None
        shared = len(self._sources) == 1
        taken = [
            self._sources[0 if shared else i].take(1) for i in range(self._replicas)
        ]
        found = [block for block in taken if block is not None]
        if not found:
            self._ended = True
            return None
        self._number += 1
        like = found[0]
        rows = [_empty(like, self._number) if b is None else b for b in taken]
        columns = zip(*(block.columns for block in rows), strict=True)
        return HostStep(like.treedef, [[c[0] for c in column] for column in columns])

    def state(self) -> Any:
        return [source.state() for source in self._sources]

    def close(self) -> None:
        for source in self._sources:
            source.close()


def _empty(like: Block, number: int) -> Block:
    """An element without rows."""
    columns: list[Column] = []
    for column in like.columns:
        leaf = column[0]
        if not isinstance(leaf, np.ndarray) or not leaf.ndim:
            msg = (
                f"at step {number} there are elements for some replicas only, and they "
                f"are single values ({leaf!r}), of which there are no empty ones; call "
                f"batch(n) in the dataset function, or give all replicas equally many"
            )
            raise ValueError(msg)
        columns.append([leaf[:0]])
    return Block(like.treedef, columns, 1)
