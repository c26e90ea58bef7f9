"""``choose_from_datasets`` and ``sample_from_datasets``: one of several at a time."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.block import Block
from replax._src.dataset.node import INFINITE, UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.seeding import RandomNode
from replax._src.dataset.shuffling import key_of, uniform
from replax._src.dataset.structure import ElementSpec

__all__ = ["Choose", "Sample"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Choose(Node):
    """Elements of the parts whose numbers ``choices`` gives."""

    inputs = ("parts", "choices")
    parts: tuple[Node, ...]
    choices: Node
    stop_on_empty: bool

    def label(self) -> str:
        return f"choose_from_datasets({len(self.parts)} datasets)"

    def spec(self) -> ElementSpec:
        return _common_spec(self.parts)

    def cardinality(self) -> int:
        return UNKNOWN

    def open(self, pass_: Pass) -> Cursor:
        parts = [part.open(pass_) for part in self.parts]
        return _ChosenCursor(
            parts,
            _GivenChoices(self.choices.open(pass_), len(parts)),
            stop_on_empty=self.stop_on_empty,
        )


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Sample(RandomNode):
    """Elements of parts that are drawn at random.

    Attributes:
      weights: How often each part is drawn, relative to the others.
      reshuffle: Whether each pass has draws of its own.
      stop_on_empty: Whether the end of one part is the end.
    """

    inputs = ("parts",)
    parts: tuple[Node, ...]
    weights: Sequence[float]
    reshuffle: bool
    stop_on_empty: bool

    def label(self) -> str:
        weights = ", ".join(f"{weight:g}" for weight in self.weights)
        return f"sample_from_datasets([{weights}])"

    def spec(self) -> ElementSpec:
        return _common_spec(self.parts)

    def cardinality(self) -> int:
        if self.stop_on_empty:
            return UNKNOWN
        sizes = [part.cardinality() for part in self.parts]
        if INFINITE in sizes:
            return INFINITE
        return UNKNOWN if UNKNOWN in sizes else sum(sizes)

    @property
    def varies(self) -> bool:
        return self.reshuffle or super().varies

    def open(self, pass_: Pass) -> Cursor:
        key = key_of(self.seed, *(pass_ if self.reshuffle else ()))
        return _ChosenCursor(
            [part.open(pass_) for part in self.parts],
            _DrawnChoices(key, self.weights),
            stop_on_empty=self.stop_on_empty,
        )


def _common_spec(parts: Sequence[Node]) -> ElementSpec:
    spec = parts[0].spec()
    for part in parts[1:]:
        other = part.spec()
        if other.treedef == spec.treedef:
            spec = spec.joined(other)
    return spec


class _Choices(abc.ABC):
    """Says which part gives the next element."""

    @abc.abstractmethod
    def next(self, is_open: Sequence[bool]) -> int | None:
        """The number of a part; None if there are no more choices."""

    @abc.abstractmethod
    def state(self) -> State: ...

    @abc.abstractmethod
    def restore(self, state: State) -> None: ...

    def close(self) -> None:
        return


class _GivenChoices(_Choices):
    def __init__(self, cursor: Cursor, parts: int) -> None:
        self._cursor = cursor
        self._parts = parts

    def next(self, is_open: Sequence[bool]) -> int | None:
        del is_open
        block = self._cursor.take(1)
        if block is None:
            return None
        choice = int(block.element(0))
        if not 0 <= choice < self._parts:
            msg = (
                f"choose_from_datasets was told to choose dataset {choice}; there are "
                f"{self._parts}, numbered from 0"
            )
            raise InvalidArgumentError(msg)
        return choice

    def state(self) -> State:
        return self._cursor.state()

    def restore(self, state: State) -> None:
        self._cursor.restore(state)

    def close(self) -> None:
        self._cursor.close()


class _DrawnChoices(_Choices):
    def __init__(self, key: np.ndarray, weights: Sequence[float]) -> None:
        self._key = key
        self._weights = np.asarray(weights, np.float64)
        self._step = 0
        self._drawn = np.empty(0)
        self._first = 0  # the step of the first of these draws

    def next(self, is_open: Sequence[bool]) -> int | None:
        weights = np.where(is_open, self._weights, 0)
        total = weights.sum()
        if not total:
            return None
        place = self._step - self._first
        if not 0 <= place < len(self._drawn):
            self._first, place = self._step, 0
            self._drawn = uniform(self._key, self._step, self._step + 256)
        self._step += 1
        ends = np.cumsum(weights)
        return int(np.searchsorted(ends, self._drawn[place] * total, side="right"))

    def state(self) -> State:
        return self._step

    def restore(self, state: State) -> None:
        self._step = state


class _ChosenCursor(Cursor):
    def __init__(
        self, parts: list[Cursor], choices: _Choices, *, stop_on_empty: bool
    ) -> None:
        self._parts = parts
        self._choices = choices
        self._stop_on_empty = stop_on_empty
        self._is_open = [True] * len(parts)

    def take(self, count: int) -> Block | None:
        blocks: list[Block] = []
        while len(blocks) < count:
            block = self._take_one()
            if block is None:
                break
            blocks.append(block)
        return Block.joined(blocks) if blocks else None

    def _take_one(self) -> Block | None:
        while any(self._is_open):
            choice = self._choices.next(self._is_open)
            if choice is None:
                break
            block = self._parts[choice].take(1) if self._is_open[choice] else None
            if block is not None:
                return block
            if self._stop_on_empty:
                break
            self._is_open[choice] = False
        self._is_open = [False] * len(self._parts)
        return None

    def state(self) -> State:
        parts = [part.state() for part in self._parts]
        return [list(map(int, self._is_open)), self._choices.state(), parts]

    def restore(self, state: State) -> None:
        is_open, choices, parts = state
        self._is_open = list(map(bool, is_open))
        self._choices.restore(choices)
        for part, part_state in zip(self._parts, parts, strict=True):
            part.restore(part_state)

    def close(self) -> None:
        self._choices.close()
        for part in self._parts:
            part.close()
