"""The compiled form of ``run``: a step as one SPMD program over the mesh.

The Python function is called once for each distinct local shape, with tracers of one
replica's values. What it recorded is then run by ``shard_map`` on every replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec

from replax._src.core import host
from replax._src.execution.call import spelled
from replax._src.execution.class_trace import StepCall, StepInput, StepOutput
from replax._src.execution.opaque import BodyChangedError, Classes, opaque_p
from replax._src.execution.step_trace import StepTrace, trace_step
from replax._src.execution.tracing import ProgramFrame
from replax._src.replica import scope
from replax._src.replica.randomness import RandomState
from replax._src.topology.topology import REPLICA_AXIS, Topology
from replax._src.values.distributed import PerReplica, Spread
from replax._src.values.handle import is_handle
from replax._src.values.host_leaf import HostLeaf
from replax._src.values.storage import Leaves
from replax._src.values.variable import Variable

__all__ = ["run_compiled"]


def run_compiled(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: scope.Place,
    random: RandomState,
    frame: ProgramFrame,
) -> Any:
    """Records a run of ``function`` on all replicas in the program of ``frame``.

    Args:
      function: The step.
      args: Its arguments.
      kwargs: The same by name.
      place: The strategy's scope.
      random: The strategy's random numbers.
      frame: The program that is being traced.

    Returns:
      The results, per-replica values where they are arrays.
    """
    topology = place.topology
    frame.topologies[topology] = None
    step = _Step(function, args, kwargs, place, random)
    spreads = [frame.spread(value, topology) for value in step.per_replica]
    plain = [jnp.asarray(value) for value in step.arrays]
    trace = step.record(spreads, plain, frame.grouping.counts)
    operands = [spread.stacked for spread in spreads] + plain
    for source in trace.lifted.sources:
        operands += _present(source, frame)
    operands += trace.lifted.constants
    outputs = opaque_p.bind(
        *operands, operation=step, avals=trace.output_avals(topology)
    )
    return step.finish(trace, outputs, frame)


def _present(source: Any, frame: ProgramFrame) -> Leaves:
    if isinstance(source, RandomState):
        return (frame.seed_and_step(source),)
    return frame.read(source)


class _Step:
    """A function, and where its arguments go: an operation between replicas."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        place: scope.Place,
        random: RandomState,
    ) -> None:
        self._topology = place.topology
        leaves, self._treedef = jax.tree_util.tree_flatten(
            (args, kwargs), is_leaf=is_handle
        )
        self._leaves = [_simplified(leaf, self._topology) for leaf in leaves]
        self.per_replica = [leaf for leaf in self._leaves if _is_spread(leaf)]
        self.arrays = [leaf for leaf in self._leaves if host.is_array(leaf)]
        self._call = StepCall(
            function, self._arguments, len(self.per_replica), place, random
        )
        self._traces: dict[Any, StepTrace] = {}
        self._recorded: StepTrace | None = None

    def _arguments(
        self, inputs: Sequence[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The function's arguments, from the inputs of one replica."""
        spreads = iter(inputs[: len(self.per_replica)])
        arrays = iter(inputs[len(self.per_replica) :])
        leaves: list[Any] = []
        for position, leaf in enumerate(self._leaves):
            if _is_spread(leaf):
                leaves.append(next(spreads))
            elif host.is_array(leaf):
                leaves.append(next(arrays))
            elif isinstance(leaf, PerReplica):
                leaves.append(HostLeaf(leaf, self._spelled(position)))
            else:
                leaves.append(leaf)
        return self._treedef.unflatten(leaves)

    def _spelled(self, position: int) -> str:
        """Which argument a leaf is, as it would be written."""
        numbered = self._treedef.unflatten(range(len(self._leaves)))
        return next(
            spelled(path)
            for path, number in jax.tree_util.tree_leaves_with_path(numbered)
            if number == position
        )

    # --- tracing ----------------------------------------------------------------

    def record(
        self, spreads: Sequence[Spread], plain: Sequence[Any], counts: tuple[int, ...]
    ) -> StepTrace:
        """Traces the function for the first time."""
        self._recorded = self._trace(spreads, plain, counts)
        return self._recorded

    def _trace(
        self, spreads: Sequence[Spread], plain: Sequence[Any], counts: tuple[int, ...]
    ) -> StepTrace:
        if len(counts) == 1:  # a function without per-replica arguments knows of one
            counts = (self._topology.num_replicas,)
        key = (tuple(s.shapes for s in spreads), counts)
        if key not in self._traces:
            shared = [jax.core.ShapedArray(x.shape, x.dtype) for x in plain]
            avals = [
                [jax.core.ShapedArray(s.shapes[i], s.stacked.dtype) for s in spreads]
                + shared
                for i in range(len(counts))
            ]
            self._traces[key] = trace_step(self._call, avals, counts)
        return self._traces[key]

    # --- the results of a recorded run ------------------------------------------

    def finish(
        self, trace: StepTrace, outputs: Sequence[Any], frame: ProgramFrame
    ) -> Any:
        """The result of the run, and the variables as it left them."""
        rest = list(outputs[trace.num_results :])
        for variable in trace.written:
            width = len(variable.specs)
            frame.read(variable)
            frame.write(variable, tuple(rest[:width]))
            rest = rest[width:]
        frame.from_steps.update(x for x in trace.leaves if isinstance(x, Variable))
        leaves = [self._returned(leaf, trace, outputs) for leaf in trace.leaves]
        return trace.treedef.unflatten(leaves)

    def _returned(self, leaf: Any, trace: StepTrace, outputs: Sequence[Any]) -> Any:
        """A leaf of the result of the run."""
        if isinstance(leaf, StepInput):
            return jnp.asarray(self.arrays[leaf.number])
        if not isinstance(leaf, StepOutput):
            return leaf
        shapes = trace.shapes[leaf.number]
        value = PerReplica.of_spread(
            Spread(outputs[leaf.number], shapes, self._topology)
        )
        together = self._topology.agreement is None and len(set(shapes)) == 1
        return value.values[0] if leaf.is_one and together else value

    # --- building the program ---------------------------------------------------

    def replay(self, classes: Classes, operands: Sequence[Any]) -> list[Any]:
        """Records the step, for the shapes that the operands have now."""
        recorded = self._recorded
        assert recorded is not None
        width = len(self.per_replica)
        spreads = [self._spread(x, classes) for x in operands[:width]]
        rest = list(operands[width:])
        trace = self._trace(spreads, rest[: len(self.arrays)], classes.counts)
        if not trace.can_stand_for(recorded):
            raise BodyChangedError
        kept = len(rest) - len(recorded.lifted.constants)
        rest = rest[:kept] + _constants(trace, recorded, rest[kept:])
        outputs = self._emit(trace, classes, [s.stacked for s in spreads] + rest)
        return [
            Spread(output, trace.shapes[i], self._topology)
            if i < trace.num_results
            else output
            for i, output in enumerate(outputs)
        ]

    def _spread(self, operand: Any, classes: Classes) -> Spread:
        """A per-replica operand; what the function has computed is of one shape."""
        if isinstance(operand, Spread):
            return operand
        shapes = (tuple(operand.shape[1:]),) * len(classes.counts)
        return Spread(operand, shapes, self._topology)

    def _emit(
        self, trace: StepTrace, classes: Classes, operands: Sequence[Any]
    ) -> list[Any]:
        own = [True] * len(self.per_replica) + [False] * len(self.arrays)
        own += trace.inputs_differ
        ids = [] if classes.ids is None else [classes.ids]

        def local(*inputs: Any) -> list[Any]:
            parts = [
                lax.squeeze(x, (0,)) if differs else x
                for x, differs in zip(inputs[len(ids) :], own, strict=True)
            ]
            if trace.merged is None:
                (closed,) = trace.lifted.traces
                outputs = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *parts)
            else:
                my_class = inputs[0][lax.axis_index(REPLICA_AXIS)]
                outputs = trace.merged(my_class, inputs[0], *parts)
            return [
                lax.expand_dims(x, (0,)) if differs else x
                for x, differs in zip(outputs, trace.outputs_differ, strict=True)
            ]

        mapped = jax.shard_map(
            local,
            mesh=self._topology.mesh,
            in_specs=tuple(_specs([False] * len(ids) + own)),
            out_specs=_specs(trace.outputs_differ),
            check_vma=False,
        )
        return mapped(*ids, *operands)


def _specs(differ: Sequence[bool]) -> list[PartitionSpec]:
    return [PartitionSpec(REPLICA_AXIS) if d else PartitionSpec() for d in differ]


def _constants(
    trace: StepTrace, recorded: StepTrace, given: Sequence[Any]
) -> list[Any]:
    """The constants of one trace, from those that were recorded with another."""
    known = {
        id(value): operand
        for value, operand in zip(recorded.lifted.constants, given, strict=True)
    }
    found: list[Any] = []
    for value in trace.lifted.constants:
        if id(value) not in known and isinstance(value, jax.core.Tracer):
            raise BodyChangedError  # a value of a body that is no longer being traced
        found.append(known.get(id(value), value))
    return found


def _simplified(leaf: Any, topology: Topology) -> Any:
    """A leaf, or the number of Python's that all replicas have."""
    if not isinstance(leaf, PerReplica) or topology.agreement is not None:
        return leaf
    return leaf if leaf.number is None else leaf.number


def _is_spread(leaf: Any) -> bool:
    return isinstance(leaf, PerReplica) and not leaf.on_host
