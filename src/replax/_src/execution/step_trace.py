"""A step as it was traced for all local shapes of a program."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.core
import jax.numpy as jnp

from replax._src.execution.class_trace import ClassTrace, StepCall, StepOutput
from replax._src.execution.inputs import Lifted, lift_all
from replax._src.execution.step_notes import note_no_rows
from replax._src.execution.tracing import StepFrame
from replax._src.topology.topology import REPLICA_AXIS, Topology
from replax._src.values.variable import Variable

if TYPE_CHECKING:
    from replax._src.execution import ragged

__all__ = ["StepTrace", "trace_step"]

Shape = tuple[int, ...]

_MAX_PASSES = 5


@dataclasses.dataclass(frozen=True)
class StepTrace:
    """A step traced for one set of local shapes.

    Attributes:
      lifted: A jaxpr for each shape class, and what they need.
      treedef: Structure of the result.
      leaves: The leaves of the result: a StepOutput, or the value itself.
      written: The variables that are assigned, whose leaves follow the result.
      merged: The program of a ragged step; None if all replicas have one shape.
      shapes: For each output its shape in each class.
    """

    lifted: Lifted
    treedef: jax.tree_util.PyTreeDef
    leaves: tuple[Any, ...]
    written: tuple[Variable, ...]
    merged: ragged.MergedStep | None
    shapes: tuple[tuple[Shape, ...], ...]

    @property
    def num_results(self) -> int:
        """How many outputs are the result."""
        return sum(isinstance(leaf, StepOutput) for leaf in self.leaves)

    @property
    def inputs_differ(self) -> list[bool]:
        """For each input after the arguments, whether each replica has its own."""
        flags: list[bool] = []
        for source, avals in zip(self.lifted.sources, self.lifted.avals, strict=True):
            own = isinstance(source, Variable) and source.store.stacked
            flags += [own] * len(avals)
        return flags + [False] * len(self.lifted.constants)

    @property
    def outputs_differ(self) -> list[bool]:
        """For each output, whether each replica has its own."""
        written = [v.store.stacked for v in self.written for _ in v.specs]
        return [True] * self.num_results + written

    def output_avals(self, topology: Topology) -> tuple[Any, ...]:
        """The types of the outputs, with the replicas' own ones stacked."""
        avals: list[Any] = []
        for shapes, aval, differs in zip(
            self.shapes,
            self.lifted.traces[0].out_avals,
            self.outputs_differ,
            strict=True,
        ):
            shape = tuple(max(dims) for dims in zip(*shapes, strict=True))
            whole = (topology.num_replicas, *shape) if differs else shape
            avals.append(jax.core.ShapedArray(whole, aval.dtype))
        return tuple(avals)

    def can_stand_for(self, recorded: StepTrace) -> bool:
        """Whether this trace can be run where another one was recorded."""
        return (
            recorded.treedef == self.treedef
            and recorded.leaves == self.leaves
            and recorded.written == self.written
            and recorded.lifted.sources == self.lifted.sources
        )


def trace_step(
    call: StepCall, avals: Sequence[Sequence[Any]], counts: tuple[int, ...]
) -> StepTrace:
    """Traces a step once for each shape class.

    Args:
      call: What is called.
      avals: The types of a replica's inputs, for each class.
      counts: How many replicas are of each class.
    """
    topology = call.place.topology
    totals: list[int] = []
    for _ in range(_MAX_PASSES):
        frames = [
            StepFrame(topology, _row_totals(call, avals, counts, i), totals)
            for i in range(len(counts))
        ]
        traces: list[ClassTrace] = []
        failure: Exception | None = None
        for types, frame in zip(avals, frames, strict=True):
            try:
                traces.append(ClassTrace(call, types, frame))
            except Exception as error:  # noqa: BLE001  # raised below
                if failure is None:
                    note_no_rows(error, types[: call.num_own])
                    failure = error
        met = [frame.gathered for frame in frames]
        found = _totals(met, counts)
        taken_right = all(
            taken == total
            for sizes in met
            for (_, taken), total in zip(sizes, found, strict=False)
        )
        if failure is not None and (taken_right or len(counts) == 1):
            raise failure
        if taken_right:
            _require_equal_numbers(met)
            return _assembled(call, traces, counts)
        totals = found
    msg = (
        f"the lengths that all_gather meets in {call.name} changed at each of "
        f"{_MAX_PASSES} traces: the lengths of later ones depend on those of earlier "
        f"ones; gather them in one all_gather, or pad to one length"
    )
    raise ValueError(msg)


def _row_totals(
    call: StepCall,
    avals: Sequence[Sequence[Any]],
    counts: tuple[int, ...],
    position: int,
) -> dict[int, int]:
    """How many rows all replicas have of what this class has so and so many of."""
    totals: dict[int, int] = {}
    for column in list(zip(*avals, strict=True))[: call.num_own]:
        if not column[0].shape:
            continue
        rows = [aval.shape[0] for aval in column]
        total = sum(n * count for n, count in zip(rows, counts, strict=True))
        totals.setdefault(rows[position], total)
    return totals


def _totals(
    met: Sequence[Sequence[tuple[int, int]]], counts: tuple[int, ...]
) -> list[int]:
    """How many rows all replicas have, at each ``all_gather`` that all classes meet."""
    return [
        sum(size * count for (size, _), count in zip(sizes, counts, strict=True))
        for sizes in zip(*met, strict=False)
    ]


def _require_equal_numbers(met: Sequence[Sequence[Any]]) -> None:
    numbers = {len(sizes) for sizes in met}
    if len(numbers) > 1:
        msg = (
            f"all_gather is called {' or '.join(map(str, sorted(numbers)))} times, "
            f"depending on the number of rows a replica has; all replicas have to "
            f"meet in the same operations"
        )
        raise ValueError(msg)


def _assembled(
    call: StepCall, traces: Sequence[ClassTrace], counts: tuple[int, ...]
) -> StepTrace:
    first = traces[0]
    for other in traces[1:]:
        first.require_same_form(other)
    lifted = lift_all([trace.closed(first.written) for trace in traces])
    if len(counts) == 1:
        merged = None
        shapes = tuple((tuple(aval.shape),) for aval in lifted.traces[0].out_avals)
    else:
        # Loaded here: most programs have no such step, and it takes its time.
        from replax._src.execution import ragged  # noqa: PLC0415

        num_replicas = call.place.topology.num_replicas
        merged = ragged.merge(lifted.traces, counts, num_replicas)
        shapes = tuple(merged.out_shapes)
    trace = StepTrace(
        lifted, first.treedef, first.leaves, first.written, merged, shapes
    )
    if merged is not None:
        _prove_common(call, first, trace, merged)
    return trace


def _prove_common(
    call: StepCall, first: ClassTrace, trace: StepTrace, merged: ragged.MergedStep
) -> None:
    """Shows that replicas of different shapes agree where they have to.

    Each class's trace has been seen to agree with itself; but what is a number there,
    such as the number of rows, may be another one in the next class.
    """
    num_replicas = call.place.topology.num_replicas
    avals = trace.lifted.traces[0].in_avals
    inputs = [
        jax.ShapeDtypeStruct(shape, aval.dtype)
        for shape, aval in zip(merged.in_shapes, avals, strict=True)
    ]
    class_id = jax.ShapeDtypeStruct((), jnp.int32)
    class_ids = jax.ShapeDtypeStruct((num_replicas,), jnp.int32)
    closed = jax.make_jaxpr(merged, axis_env=[(REPLICA_AXIS, num_replicas)])(
        class_id, class_ids, *inputs
    )
    num_plain = len(avals) - call.num_own - len(trace.inputs_differ)
    own = [True] * call.num_own + [False] * num_plain + trace.inputs_differ
    first.require_common(
        closed, [True, False, *own], "it depends on how many rows a replica has"
    )
