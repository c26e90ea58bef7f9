"""What each replica gets at each step, still on the host."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from replax._src.dataset.block import Block, Column
from replax._src.dataset.node import Cursor
from replax._src.dataset.structure import TreeDef, leaf_names
from replax._src.input.split import part_length, parts

__all__ = [
    "NOT_BEGUN",
    "Dealt",
    "HostStep",
    "Parts",
    "Rows",
    "Shape",
    "Split",
    "Steps",
    "Whole",
    "taken_up",
]

Shape = tuple[int, ...]

# No slice of the first batch has been dealt in an earlier iteration.
NOT_BEGUN = (0, 1)


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
      shapes: With several workers, for each leaf the shapes of what all replicas get.
    """

    __slots__ = ("leaves", "shapes", "treedef")

    # Of things made ahead, steps are counted.
    size = 1

    def __init__(
        self,
        treedef: TreeDef,
        leaves: Sequence[Rows | list[Any]],
        shapes: Sequence[tuple[Shape, ...]] | None = None,
    ) -> None:
        self.treedef = treedef
        self.leaves = leaves
        self.shapes = shapes

    @property
    def has_rows(self) -> bool:
        """Whether any replica of any worker has some; all shapes have to be known."""
        assert self.shapes is not None
        return any(shape[0] for everyone in self.shapes for shape in everyone)


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
      begun: How many slices of the first one were given before, and of how many.
    """

    def __init__(
        self, elements: Cursor, replicas: int, begun: tuple[int, int] = NOT_BEGUN
    ) -> None:
        self._elements = elements
        self._replicas = replicas
        self._number = 0
        self._begun = begun

    def take(self, count: int) -> HostStep | None:
        del count
        block = self._elements.take(1)
        if block is None:
            return None
        self._number += 1
        if self._begun[0]:
            whole, block = block, _rest(block, *self._begun)
            self._begun = NOT_BEGUN
            if _is_empty(block) and not _is_empty(whole):
                return self.take(1)
        if self._replicas == 1:
            return HostStep(block.treedef, [[column[0]] for column in block.columns])
        return HostStep(block.treedef, _cut(block, self._replicas, self._number - 1))

    def state(self) -> Any:
        position = self._elements.state()
        if self._begun[0]:
            return {"batch": position, "dealt": list(self._begun)}
        return position

    def close(self) -> None:
        self._elements.close()


class Parts(Steps):
    """Each element is what this worker has of a batch over all replicas.

    Args:
      elements: The worker's own rows beside the numbers of rows of the whole batch.
      replicas: How many replicas all workers have.
      first: The number of this worker's first one.
      local: How many it has.
    """

    def __init__(self, elements: Cursor, replicas: int, first: int, local: int) -> None:
        self._elements = elements
        self._replicas = replicas
        self._local = range(first, first + local)

    def take(self, count: int) -> HostStep | None:
        del count
        block = self._elements.take(1)
        if block is None:
            return None
        half = len(block.columns) // 2
        leaves: list[list[Any]] = []
        shapes: list[tuple[Shape, ...]] = []
        for own, total in zip(block.columns[:half], block.columns[half:], strict=True):
            bounds = parts(int(total[0]), self._replicas)
            rows, offset = own[0], bounds[self._local[0]][0]
            mine = [bounds[i] for i in self._local]
            leaves.append([rows[a - offset : b - offset] for a, b in mine])
            shapes.append(tuple((b - a, *rows.shape[1:]) for a, b in bounds))
        return HostStep(block.treedef.children()[0], leaves, shapes)

    def state(self) -> Any:
        return self._elements.state()

    def close(self) -> None:
        self._elements.close()


class Dealt(Steps):
    """Each element is a batch of this worker's own, dealt out over several steps.

    It is cut into as many slices as all workers have replicas, and each step takes as
    many of them as this worker has.

    Args:
      elements: The batches.
      replicas: How many replicas all workers have.
      local: How many this worker has.
      begun: How many slices of the first batch have been dealt before, and of how many.
    """

    def __init__(
        self,
        elements: Cursor,
        replicas: int,
        local: int,
        begun: tuple[int, int] = NOT_BEGUN,
    ) -> None:
        self._elements = elements
        self._replicas = replicas
        self._local = local
        self._number = 0
        self._before: Any = None  # where the batch that is being dealt begins
        self._step: HostStep | None = None
        self._given, self._of = begun  # slices of it

    def take(self, count: int) -> HostStep | None:
        del count
        if self._step is None:
            self._before = self._elements.state()
            block = self._elements.take(1)
            if block is None:
                return None
            if self._of != self._replicas:
                block = _rest(block, self._given, self._of)
                self._given, self._of = 0, self._replicas
            self._cut(block)
        assert self._step is not None
        first = self._given
        self._given += self._local
        leaves: list[list[Any]] = []
        shapes: list[tuple[Shape, ...]] = []
        for rows in self._step.leaves:
            assert isinstance(rows, Rows)
            leaves.append([rows.of(first + i) for i in range(self._local)])
            # If all workers read the same, as with OFF.
            mine = tuple(part.shape for part in leaves[-1])
            shapes.append(mine * (self._replicas // self._local))
        step = HostStep(self._step.treedef, leaves, shapes)
        if self._given >= self._replicas:
            self._step = None
            self._given = 0
        return step

    def _cut(self, block: Block) -> None:
        leaves = _cut(block, self._replicas, self._number)
        self._step = HostStep(block.treedef, leaves)
        self._number += 1

    def state(self) -> Any:
        if not self._given:
            return self._elements.state()
        before = self._elements.state() if self._step is None else self._before
        return {"batch": before, "dealt": [self._given, self._of]}

    def close(self) -> None:
        self._elements.close()


def taken_up(position: Any) -> tuple[Any, tuple[int, int]]:
    """Where the batches go on, and how many slices, of how many, of one were dealt."""
    if isinstance(position, dict) and "dealt" in position:
        given, slices = position["dealt"]
        return position["batch"], (given, slices)
    return position, NOT_BEGUN


def _rest(block: Block, given: int, slices: int) -> Block:
    """What is left of a batch of which some slices have been dealt."""
    columns: list[Column] = []
    for column in block.columns:
        leaf = column[0]
        done = given * part_length(len(leaf), slices) if given else 0
        columns.append([leaf[done:] if done else leaf])
    return Block(block.treedef, columns, 1)


def _is_empty(block: Block) -> bool:
    """Whether an element has no rows."""
    return not any(len(column[0]) for column in block.columns)


def _cut(block: Block, replicas: int, number: int) -> list[Rows]:
    """The rows of each leaf of one element, split over the replicas."""
    leaves: list[Rows] = []
    for position, column in enumerate(block.columns):
        leaf = column[0]
        if not isinstance(leaf, np.ndarray) or not leaf.ndim:
            name = leaf_names(block.treedef)[position]
            msg = (
                f"element {number} of the dataset has the single value {leaf!r}"
                f"{' in ' + name if name else ''}, which cannot be split over "
                f"{replicas} replicas; call batch(n) on the dataset, with n rows for "
                f"all replicas together"
            )
            raise IndexError(msg)
        leaves.append(Rows(leaf, part_length(len(leaf), replicas), replicas))
    return leaves


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
