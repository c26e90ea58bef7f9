"""One program for a step whose replicas have different local shapes.

The step is traced once for each distinct local shape (a shape class). All replicas
meet at the same collectives, so that each trace can be cut there: between two
meetings, a ``lax.switch`` runs the piece of the class that a replica belongs to. What
is handed on from piece to piece lies in slots padded to the largest class, and each
piece slices its own part out, so that the traced function never sees padding.

Which replica belongs to which class is an input. One program therefore serves all
arrangements of the same shapes.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax

from replax._src.core.jax_compat import ClosedJaxpr, JaxprEqn
from replax._src.execution.arrangement import Arrangement
from replax._src.execution.board import Board
from replax._src.execution.cut import Cut
from replax._src.execution.equations import is_collective
from replax._src.execution.flat_step import FlatStep
from replax._src.execution.loops import loop
from replax._src.execution.meetings import Meeting, check_meetings, collective
from replax._src.execution.segment import Segment
from replax._src.execution.slots import Shape, padded_shape

__all__ = ["MergedStep", "merge"]


@dataclasses.dataclass(frozen=True)
class _Stage:
    """A segment and the meeting that ends it, with the places of its operands."""

    segment: Segment
    meeting: Meeting
    operands: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class MergedStep:
    """A step for replicas of several shape classes.

    Attributes:
      in_shapes: The shape of each input, padded to the elementwise maximum.
      out_shapes: For each output, its true shape in each class. An output comes back
        padded with zeros to the elementwise maximum of these.
    """

    in_shapes: tuple[Shape, ...]
    out_shapes: tuple[tuple[Shape, ...], ...]
    _stages: tuple[_Stage, ...]
    _last: Segment
    _outputs: tuple[int, ...]

    def __call__(
        self, class_id: jax.Array, class_ids: jax.Array, *inputs: Any
    ) -> list[Any]:
        """Runs the step on one replica, inside ``shard_map``.

        Args:
          class_id: The shape class of this replica.
          class_ids: The shape class of every replica.
          *inputs: Arrays of ``in_shapes``, zero behind this replica's own shape.
        """
        held: list[Any] = list(inputs)
        for stage in self._stages:
            stage.segment.run(class_id, held)
            operands = [held[place] for place in stage.operands]
            held += stage.meeting.run(class_id, class_ids, operands)
        self._last.run(class_id, held)
        return [held[place] for place in self._outputs]


def merge(
    steps: Sequence[ClosedJaxpr], counts: Sequence[int], num_replicas: int
) -> MergedStep:
    """Makes one step out of its traces for several local shapes.

    Args:
      steps: The step as traced for each shape class; all with the same number of
        inputs and outputs, of the same dtypes and ranks.
      counts: How many replicas are of each class.
      num_replicas: How many replicas there are.

    Raises:
      ValueError: If the classes do not meet at the same collectives, or a collective
        stands where the step cannot be cut. The message names the place.
    """
    if len(steps) != len(counts) or sum(counts) != num_replicas:
        msg = (
            f"{len(steps)} traced steps for classes of {list(counts)} replicas do not "
            f"make {num_replicas} replicas; give one trace a class, and count each "
            f"replica once"
        )
        raise ValueError(msg)
    _check_outputs(steps)
    in_avals = [step.in_avals for step in steps]
    return _merged(steps, Arrangement.of(counts, in_avals))


def _merged(steps: Sequence[ClosedJaxpr], arrangement: Arrangement) -> MergedStep:
    flat = _flattened(steps, arrangement)
    board = Board(flat)
    cut = Cut(board)
    stages: list[_Stage] = []
    for number, equations in enumerate(zip(*(s.meetings for s in flat), strict=True)):
        meeting = _meeting(equations, arrangement)
        wanted = list(zip(*(eqn.invars for eqn in equations), strict=True))
        segment, homes = cut.segment(number, wanted)
        for slot, variables in zip(
            meeting.results,
            zip(*(e.outvars for e in equations), strict=True),
            strict=True,
        ):
            board.add(slot, variables)
        stages.append(_Stage(segment, meeting, tuple(h.place for h in homes)))
    outputs = list(zip(*(step.outputs for step in flat), strict=True))
    last, homes = cut.segment(len(stages), outputs)
    return MergedStep(
        _padded([step.in_avals for step in steps]),
        tuple(zip(*([a.shape for a in s.out_avals] for s in steps), strict=True)),
        tuple(stages),
        last,
        tuple(home.place for home in homes),
    )


def _flattened(
    steps: Sequence[ClosedJaxpr], arrangement: Arrangement
) -> list[FlatStep]:
    """The steps without what they do not need.

    A collective whose result only some classes use is kept in all: the others must
    take part in it.
    """
    lean = [FlatStep.of(step, keep_collectives=False) for step in steps]
    try:
        check_meetings([step.meetings for step in lean], arrangement)
    except ValueError:
        full = [FlatStep.of(step, keep_collectives=True) for step in steps]
        check_meetings([step.meetings for step in full], arrangement)
        return full
    return lean


def _meeting(equations: Sequence[JaxprEqn], arrangement: Arrangement) -> Meeting:
    if is_collective(equations[0]):
        return collective(equations, arrangement)
    body = functools.partial(_merged, arrangement=arrangement)
    return loop(equations, arrangement, body)


def _padded(avals: Sequence[Sequence[Any]]) -> tuple[Shape, ...]:
    return tuple(
        padded_shape([a.shape for a in own]) for own in zip(*avals, strict=True)
    )


def _check_outputs(steps: Sequence[ClosedJaxpr]) -> None:
    for what, avals in (
        ("inputs", [step.in_avals for step in steps]),
        ("outputs", [step.out_avals for step in steps]),
    ):
        kinds = [[(str(a.dtype), len(a.shape)) for a in own] for own in avals]
        if any(kind != kinds[0] for kind in kinds):
            msg = (
                f"a step must have {what} of the same number, dtypes and ranks for all "
                f"local shapes, but it has {kinds}; do not choose what it takes or "
                f"returns by the number of rows"
            )
            raise ValueError(msg)
