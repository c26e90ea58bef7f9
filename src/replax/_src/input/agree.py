"""How workers learn what the others' replicas get at each step.

All processes run the same program, so all have to know each step's shapes, and when
there are no more steps. Where the plan says it, the first step is compared and nothing
else; otherwise each step is described to the others, by the thread that makes steps
ahead of their use.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from replax._src.core.errors import InvalidArgumentError, UnavailableError
from replax._src.dataset.node import UNKNOWN
from replax._src.dataset.structure import TreeDef, leaf_names
from replax._src.input.peers import Round
from replax._src.input.steps import HostStep, Rows, Shape, Steps

__all__ = ["Agreed"]

_FAILED = "failed: "
_AS_BEFORE = "="


@dataclasses.dataclass(frozen=True)
class _Described:
    """What a worker gives its replicas at one step.

    Attributes:
      names: Of the leaves.
      dtypes: Of the leaves.
      shapes: For each leaf, what each replica of the worker gets.
      steps: How many steps there are, if that is known.
    """

    names: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[Shape, ...], ...]
    steps: int

    @classmethod
    def of(cls, step: HostStep, steps: int) -> _Described:
        columns = [_columns(leaf) for leaf in step.leaves]
        return cls(
            tuple(leaf_names(step.treedef)),
            tuple(_dtype(column[0]) for column in columns),
            tuple(tuple(np.shape(part) for part in column) for column in columns),
            steps,
        )

    def text(self) -> str:
        return json.dumps([self.names, self.dtypes, self.shapes, self.steps])

    @classmethod
    def from_text(cls, text: str) -> _Described:
        names, dtypes, shapes, steps = json.loads(text)
        columns = tuple(tuple(map(tuple, column)) for column in shapes)
        return cls(tuple(names), tuple(dtypes), columns, steps)


class Agreed(Steps):
    """Steps that are the same in number, and fit together, on all workers.

    A worker whose data has ended goes on with empty batches until all have ended.

    Args:
      steps: This worker's.
      round_: Where the workers tell each other.
      known_steps: How many there are on every worker, each of which then says what
        the others have; None if that is not known, and every step has to be told.
      replicas: For each worker the numbers of its replicas.
      structure: What elements look like, for a worker that has none.
      drops_empty: Whether steps are left out at which no replica has rows.
    """

    def __init__(
        self,
        steps: Steps,
        round_: Round,
        *,
        known_steps: int | None,
        replicas: Sequence[Sequence[int]],
        structure: Callable[[], TreeDef],
        drops_empty: bool = False,
    ) -> None:
        self._steps = steps
        self._round = round_
        self._known_steps = known_steps
        self._replicas = replicas
        self._structure = structure
        self._drops_empty = drops_empty
        self._number = 0
        self._ended = False
        self._all_ended = False
        self._told: str | None = None
        self._heard: list[_Described | None] = [None] * len(replicas)

    def take(self, count: int) -> HostStep | None:
        step = self._next(count)
        # All workers know what all replicas have, and leave out the same steps.
        while self._is_left_out(step):
            step = self._next(count)
        return step

    def _is_left_out(self, step: HostStep | None) -> bool:
        if step is None or not self._drops_empty or self._round.is_over:
            return False
        return not step.has_rows

    def _own(self, count: int) -> HostStep | None:
        step = self._steps.take(count)
        # Where each worker knows by itself what the others have, nothing is told.
        while self._known_steps is not None and self._is_left_out(step):
            step = self._steps.take(count)
        return step

    def _next(self, count: int) -> HostStep | None:
        """The next step; where steps are told, also if no replica has rows."""
        if self._all_ended:
            return None
        number = self._number
        self._number += 1
        asks = self._known_steps is None or not number
        try:
            step = None if self._ended else self._own(count)
            described = self._described(step) if asks else None
        except Exception as error:
            if asks:
                name = type(error).__name__
                self._round.tell(number, f"{_FAILED}{name}: {error}")
            raise
        self._ended = step is None
        if not asks:
            if step is None:
                self._round.end()
            return step
        present = self._exchanged(number, described)
        if not any(present):
            self._all_ended = True
            self._round.end()
            return None
        like = self._compared(number, present)
        if step is None:
            step = self._empty(like)
        if self._known_steps is None:
            step.shapes = self._shapes(number, present, like)
        else:
            self._check_known(present, step)
        return step

    def _described(self, step: HostStep | None) -> _Described | None:
        if step is None:
            return None
        steps = UNKNOWN if self._known_steps is None else self._known_steps
        return _Described.of(step, steps)

    def _exchanged(
        self, number: int, mine: _Described | None
    ) -> list[_Described | None]:
        """What each worker gives at a step; None for those that are at their end."""
        text = "" if mine is None else mine.text()
        short = _AS_BEFORE if text and text == self._told else text
        self._told = text
        self._round.tell(number, short)
        rank = self._round.rank
        for other in range(len(self._replicas)):
            if other == rank:
                self._heard[rank] = mine
                continue
            text = self._round.hear(number, other)
            if text.startswith(_FAILED):
                msg = (
                    f"rank {other} could not make step {number} of its dataset, so "
                    f"that no rank can run it; it reports "
                    f"{text.removeprefix(_FAILED)}"
                )
                raise UnavailableError(msg)
            if text != _AS_BEFORE:
                self._heard[other] = _Described.from_text(text) if text else None
        self._round.forget(number - 1)
        return list(self._heard)

    def _compared(
        self, number: int, present: Sequence[_Described | None]
    ) -> _Described:
        """One worker's step, from which the others' may differ in lengths only."""
        first, like = next((i, d) for i, d in enumerate(present) if d is not None)
        for rank, described in enumerate(present):
            if described is None:
                continue
            if described.names != like.names:
                msg = (
                    f"at step {number} rank {first} has elements with the leaves "
                    f"{list(like.names)}, and rank {rank} with "
                    f"{list(described.names)}; give all workers a dataset of one "
                    f"structure"
                )
                raise InvalidArgumentError(msg)
            for i, name in enumerate(like.names):
                one = like.dtypes[i], len(like.shapes[i][0])
                other = described.dtypes[i], len(described.shapes[i][0])
                if one != other:
                    _refuse(number, name, (first, like), (rank, described), i)
        return like

    def _shapes(
        self, number: int, present: Sequence[_Described | None], like: _Described
    ) -> list[tuple[Shape, ...]]:
        """For each leaf the shapes of what all replicas get."""
        shapes: list[tuple[Shape, ...]] = []
        for i, column in enumerate(like.shapes):
            of: dict[int, Shape] = {}
            for described, replicas in zip(present, self._replicas, strict=True):
                if described is not None:
                    of.update(zip(replicas, described.shapes[i], strict=True))
                    continue
                if not column[0]:
                    self._refuse_single(number, present, like.names[i])
                of.update(dict.fromkeys(replicas, (0, *column[0][1:])))
            shapes.append(tuple(of[replica] for replica in sorted(of)))
        return shapes

    def _refuse_single(
        self, number: int, present: Sequence[_Described | None], name: str
    ) -> NoReturn:
        ended = [str(rank) for rank, d in enumerate(present) if d is None]
        msg = (
            f"at step {number} rank {', '.join(ended)} has no more elements, and they "
            f"are single values{' in ' + name if name else ''}, of which there are no "
            f"empty ones; call batch(n) on the dataset, or give all workers equally "
            f"many"
        )
        raise ValueError(msg)

    def _empty(self, like: _Described) -> HostStep:
        """A step without rows, for the replicas of this worker."""
        count = len(self._replicas[self._round.rank])
        leaves = [
            [np.empty((0, *shapes[0][1:]), dtype)] * count
            for dtype, shapes in zip(like.dtypes, like.shapes, strict=True)
        ]
        return HostStep(self._structure(), leaves)

    def _check_known(
        self, present: Sequence[_Described | None], step: HostStep
    ) -> None:
        """Of steps that are not told: the first ones must be what they should be."""
        counts = [0 if d is None else d.steps for d in present]
        if len(set(counts)) > 1:
            shown = ", ".join(f"{n} on rank {rank}" for rank, n in enumerate(counts))
            msg = (
                f"the dataset does not have equally many steps on all workers: "
                f"{shown}; it has to be the same everywhere. For data of each worker's "
                f"own use distribute_datasets_from_function"
            )
            raise InvalidArgumentError(msg)
        described = present[self._round.rank]
        assert described is not None
        assert step.shapes is not None
        for rank, other in enumerate(present):
            assert other is not None
            for i, everyone in enumerate(step.shapes):
                wanted = tuple(everyone[replica] for replica in self._replicas[rank])
                if other.shapes[i] != wanted:
                    me = self._round.rank
                    _refuse(0, other.names[i], (me, described), (rank, other), i)

    def state(self) -> Any:
        return self._steps.state()

    def close(self) -> None:
        self._round.leave()
        self._steps.close()


def _refuse(
    number: int,
    name: str,
    one: tuple[int, _Described],
    other: tuple[int, _Described],
    leaf: int,
) -> NoReturn:
    (first, like), (rank, described) = one, other
    shown = [
        f"{d.dtypes[leaf]} of {', '.join(str(list(s)) for s in d.shapes[leaf])}"
        for d in (like, described)
    ]
    msg = (
        f"at step {number} the batches of the workers do not fit together"
        f"{' in ' + name if name else ''}: rank {first} has {shown[0]}, and rank "
        f"{rank} has {shown[1]}; the dataset has to give all workers one dtype and one "
        f"number of dimensions, and under DATA and OFF the same rows"
    )
    raise InvalidArgumentError(msg)


def _columns(leaf: Rows | list[Any]) -> list[Any]:
    if isinstance(leaf, Rows):
        return [leaf.of(i) for i in range(leaf.replicas)]
    return leaf


def _dtype(part: Any) -> str:
    """The name of a dtype; all strings have one, whatever their lengths."""
    dtype = part.dtype if isinstance(part, (np.ndarray, np.generic)) else object
    name = np.dtype(dtype)
    return "object" if name.kind in "OSU" else name.name
