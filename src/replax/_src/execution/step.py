"""The compiled form of ``run``: a step as one SPMD program over the mesh.

The Python function is called once for each distinct local shape, with tracers of one
replica's values. What it recorded is then run by ``shard_map`` on every replica.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr
from jax.sharding import PartitionSpec

from replax._src.execution import divergence, ragged
from replax._src.execution.eager import is_handle, unreduced_error
from replax._src.execution.inputs import Lifted, lift_all
from replax._src.execution.opaque import BodyChangedError, Classes, opaque_p
from replax._src.execution.tracing import ProgramFrame, StepFrame, tracing
from replax._src.replica import collectives, scope
from replax._src.replica.randomness import RandomState
from replax._src.replica.replica_context import ReplicaContext
from replax._src.topology.topology import REPLICA_AXIS, Topology
from replax._src.values import host
from replax._src.values.distributed import DistributedValues, PerReplica, Spread
from replax._src.values.storage import Leaves
from replax._src.values.variable import Variable

__all__ = ["run_compiled"]

Shape = tuple[int, ...]

_MAX_PASSES = 5


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
    trace = step.trace(
        tuple(s.shapes for s in spreads),
        tuple(s.stacked.dtype for s in spreads),
        frame.grouping.counts,
        plain,
    )
    step.recorded = trace
    operands = [s.stacked for s in spreads] + plain
    for source in trace.lifted.sources:
        operands += _present(source, frame)
    operands += trace.lifted.constants
    outputs = opaque_p.bind(
        *operands,
        operation=step,
        avals=trace.output_avals(topology, frame.grouping.counts),
    )
    return step.finish(trace, outputs, frame)


def _present(source: Any, frame: ProgramFrame) -> Leaves:
    if isinstance(source, RandomState):
        return (frame.seed_and_step(source),)
    return frame.read(source)


@dataclasses.dataclass(frozen=True)
class _Trace:
    """A step traced for one set of local shapes.

    Attributes:
      lifted: A jaxpr for each shape class, and what they need.
      treedef: Structure of the result.
      leaves: For each leaf of the result the number of its output, or what it is if it
        is not an array.
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
        return sum(isinstance(leaf, _Output) for leaf in self.leaves)

    def written_stacked(self) -> list[bool]:
        """For each written leaf, whether every replica has one of its own."""
        return [v.store.stacked for v in self.written for _ in v.specs]

    def output_avals(self, topology: Topology, counts: tuple[int, ...]) -> Any:
        del counts
        first = self.lifted.traces[0].out_avals
        stacked = [True] * self.num_results + self.written_stacked()
        avals: list[Any] = []
        for shapes, aval, split in zip(self.shapes, first, stacked, strict=True):
            shape = tuple(max(dims) for dims in zip(*shapes, strict=True))
            whole = (topology.num_replicas, *shape) if split else shape
            avals.append(jax.core.ShapedArray(whole, aval.dtype))
        return tuple(avals)


@dataclasses.dataclass(frozen=True)
class _Output:
    """A leaf of the result that is the ``number``-th output."""

    number: int


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
        self._function = function
        self._place = place
        self._random = random
        self._leaves, self._treedef = jax.tree_util.tree_flatten(
            (args, kwargs), is_leaf=is_handle
        )
        self._traces: dict[Any, _Trace] = {}
        self.recorded: _Trace | None = None

    @property
    def per_replica(self) -> list[PerReplica]:
        """The per-replica arguments that are arrays."""
        return [leaf for leaf in self._leaves if _is_spread(leaf)]

    @property
    def arrays(self) -> list[Any]:
        """The arguments that every replica gets whole."""
        return [leaf for leaf in self._leaves if host.is_array(leaf)]

    # --- tracing ----------------------------------------------------------------

    def trace(
        self,
        shapes: tuple[tuple[Shape, ...], ...],
        dtypes: tuple[Any, ...],
        counts: tuple[int, ...],
        plain: Sequence[Any],
    ) -> _Trace:
        """Traces the function for each shape class, unless that was done already.

        Args:
          shapes: For each per-replica argument its shape in each class.
          dtypes: Their dtypes.
          counts: How many replicas are of each class.
          plain: The other array arguments.
        """
        key = (shapes, counts)
        if key not in self._traces:
            avals = [
                [
                    jax.core.ShapedArray(s[i], d)
                    for s, d in zip(shapes, dtypes, strict=True)
                ]
                + [jax.core.ShapedArray(x.shape, x.dtype) for x in plain]
                for i in range(len(counts))
            ]
            self._traces[key] = self._traced(avals, counts)
        return self._traces[key]

    def _traced(self, avals: list[list[Any]], counts: tuple[int, ...]) -> _Trace:
        totals: list[int] | None = None
        for _ in range(_MAX_PASSES):
            traced = [self._trace_class(class_avals, totals) for class_avals in avals]
            met = [t.frame.gathered for t in traced]
            if len({len(sizes) for sizes in met}) > 1:
                raise _uneven_gathers(met)
            true = [
                sum(n * c for n, c in zip(sizes, counts, strict=True))
                for sizes in zip(*met, strict=True)
            ]
            if len(counts) == 1 or true == (totals or _assumed(met, counts)):
                return self._assembled(traced, counts)
            totals = true
        msg = (
            f"the lengths that all_gather meets in {_name(self._function)} changed at "
            f"each of {_MAX_PASSES} traces: the lengths of later ones depend on those "
            f"of earlier ones; gather them in one all_gather, or pad to one length"
        )
        raise ValueError(msg)

    def _trace_class(self, avals: list[Any], totals: list[int] | None) -> _TracedClass:
        topology = self._place.topology
        frame = StepFrame(topology, totals)
        traced = _TracedClass(frame)

        def body(*inputs: Any) -> list[Any]:
            with tracing(frame):
                count = topology.num_replicas
                replica_id = collectives.replica_id_p.bind(num_replicas=count)
                run = _CompiledRun(frame, self._place, self._random, replica_id)
                context = ReplicaContext(
                    self._place.strategy, topology, replica_id, run
                )
                here = dataclasses.replace(self._place, replica=context)
                args, kwargs = self._arguments(inputs)
                with scope.enter(here):
                    result = self._function(*args, **kwargs)
                return traced.outputs_of(result)

        axis_env = [(REPLICA_AXIS, topology.num_replicas)]
        traced.closed = jax.make_jaxpr(body, axis_env=axis_env)(*avals)
        return traced

    def _arguments(self, inputs: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
        spreads = iter(inputs[: len(self.per_replica)])
        arrays = iter(inputs[len(self.per_replica) :])
        leaves: list[Any] = []
        for leaf in self._leaves:
            if _is_spread(leaf):
                leaves.append(next(spreads))
            elif host.is_array(leaf):
                leaves.append(next(arrays))
            else:
                leaves.append(leaf)
        return self._treedef.unflatten(leaves)

    def _assembled(self, traced: list[_TracedClass], counts: tuple[int, ...]) -> _Trace:
        first = traced[0]
        for other in traced[1:]:
            first.require_same_form(other, _name(self._function))
        for one in traced:
            self._prove_common(one)
        lifted = lift_all([one.without_checks() for one in traced])
        num_replicas = self._place.topology.num_replicas
        if len(counts) == 1:
            merged = None
            shapes = tuple((tuple(a.shape),) for a in lifted.traces[0].out_avals)
        else:
            merged = ragged.merge(lifted.traces, counts, num_replicas)
            shapes = tuple(merged.out_shapes)
        return _Trace(
            lifted, first.treedef, first.leaves, tuple(first.written), merged, shapes
        )

    def _prove_common(self, traced: _TracedClass) -> None:
        """Shows that what is assigned without aggregation is equal on all replicas."""
        if not traced.frame.unreduced:
            return
        lifted = lift_all([traced.closed])
        varying = [True] * len(self.per_replica) + [False] * len(self.arrays)
        for source, avals in zip(lifted.sources, lifted.avals, strict=True):
            own = isinstance(source, Variable) and source.store.stacked
            varying += [own] * len(avals)
        varying += [False] * len(lifted.constants)
        outputs = divergence.varying_outputs(lifted.traces[0], varying)
        position = traced.num_outputs
        for unreduced in traced.frame.unreduced:
            width = len(unreduced.leaves)
            if any(outputs[position : position + width]):
                raise unreduced_error(
                    unreduced.variable.name,
                    unreduced.where,
                    "it is computed from what each replica has of its own",
                )
            position += width

    # --- the results of a recorded run ------------------------------------------

    def finish(self, trace: _Trace, outputs: Sequence[Any], frame: ProgramFrame) -> Any:
        """The result of the run, and the variables as it left them."""
        topology = self._place.topology
        rest = list(outputs[trace.num_results :])
        for variable in trace.written:
            width = len(variable.specs)
            frame.read(variable)
            frame.write(variable, tuple(rest[:width]))
            rest = rest[width:]
        leaves = [
            PerReplica.of_spread(
                Spread(outputs[leaf.number], trace.shapes[leaf.number], topology)
            )
            if isinstance(leaf, _Output)
            else leaf
            for leaf in trace.leaves
        ]
        return trace.treedef.unflatten(leaves)

    # --- building the program ---------------------------------------------------

    def replay(self, classes: Classes, operands: Sequence[Any]) -> list[Any]:
        """Records the step, for the shapes that the operands have now."""
        recorded = self.recorded
        assert recorded is not None
        width = len(self.per_replica)
        spreads, rest = list(operands[:width]), list(operands[width:])
        plain = rest[: len(self.arrays)]
        trace = self.trace(
            tuple(s.shapes for s in spreads),
            tuple(s.stacked.dtype for s in spreads),
            classes.counts,
            plain,
        )
        if trace is not recorded and not _replaceable(recorded, trace):
            raise BodyChangedError
        kept = len(rest) - len(recorded.lifted.constants)
        rest = rest[:kept] + _constants(trace, recorded, rest[kept:])
        outputs = self._emit(trace, classes, [s.stacked for s in spreads], rest)
        topology = self._place.topology
        return [
            Spread(output, trace.shapes[i], topology)
            if i < trace.num_results
            else output
            for i, output in enumerate(outputs)
        ]

    def _emit(
        self,
        trace: _Trace,
        classes: Classes,
        stacked: Sequence[Any],
        rest: Sequence[Any],
    ) -> list[Any]:
        split = [True] * len(stacked) + [False] * len(self.arrays)
        for source, avals in zip(trace.lifted.sources, trace.lifted.avals, strict=True):
            own = isinstance(source, Variable) and source.store.stacked
            split += [own] * len(avals)
        split += [False] * len(trace.lifted.constants)
        out_split = [True] * trace.num_results + trace.written_stacked()
        ids = [] if classes.ids is None else [classes.ids]

        def local(*inputs: Any) -> list[Any]:
            mine = inputs[len(ids) :]
            parts = [
                lax.squeeze(x, (0,)) if own else x
                for x, own in zip(mine, split, strict=True)
            ]
            if trace.merged is None:
                closed: ClosedJaxpr = trace.lifted.traces[0]
                outputs = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *parts)
            else:
                my_class = inputs[0][lax.axis_index(REPLICA_AXIS)]
                outputs = trace.merged(my_class, inputs[0], *parts)
            return [
                lax.expand_dims(x, (0,)) if own else x
                for x, own in zip(outputs, out_split, strict=True)
            ]

        def specs(flags: Sequence[bool]) -> list[PartitionSpec]:
            return [
                PartitionSpec(REPLICA_AXIS) if f else PartitionSpec() for f in flags
            ]

        mapped = jax.shard_map(
            local,
            mesh=self._place.topology.mesh,
            in_specs=tuple(specs([False] * len(ids) + split)),
            out_specs=specs(out_split),
            check_vma=False,
        )
        return mapped(*ids, *stacked, *rest)


class _TracedClass:
    """The trace of a step for one shape class."""

    closed: ClosedJaxpr
    treedef: jax.tree_util.PyTreeDef
    leaves: tuple[Any, ...]
    num_outputs: int

    def __init__(self, frame: StepFrame) -> None:
        self.frame = frame

    @property
    def written(self) -> list[Variable]:
        return list(self.frame.written)

    def outputs_of(self, result: Any) -> list[Any]:
        """What the trace puts out: the result, the variables, and what is checked."""
        flat, self.treedef = jax.tree_util.tree_flatten(result, is_leaf=is_handle)
        outputs: list[Any] = []
        leaves: list[Any] = []
        for leaf in flat:
            if host.is_array(leaf):
                leaves.append(_Output(len(outputs)))
                outputs.append(jnp.asarray(leaf))
            else:
                _require_returnable(leaf)
                leaves.append(leaf)
        self.leaves = tuple(leaves)
        for variable in self.frame.written:
            outputs += self.frame.present(variable)
        self.num_outputs = len(outputs)
        for unreduced in self.frame.unreduced:
            outputs += unreduced.leaves
        return outputs

    def without_checks(self) -> ClosedJaxpr:
        jaxpr = self.closed.jaxpr
        kept = jaxpr.replace(outvars=jaxpr.outvars[: self.num_outputs])
        return ClosedJaxpr(kept, self.closed.consts)

    def require_same_form(self, other: _TracedClass, name: str) -> None:
        """Refuses replicas that would return or assign different things."""
        if other.treedef != self.treedef or other.leaves != self.leaves:
            msg = (
                f"{name} returns {self.treedef} on replicas with one local shape and "
                f"{other.treedef} on replicas with another; return the same structure "
                f"whatever the number of rows"
            )
            raise ValueError(msg)
        if set(other.written) != set(self.written):
            names = {v.name for v in set(other.written) ^ set(self.written)}
            msg = (
                f"{name} assigns {', '.join(sorted(names))} on replicas with some "
                f"local shapes only; assign the same variables whatever the number of "
                f"rows"
            )
            raise ValueError(msg)
        if other.written != self.written:
            self._reorder(other)

    def _reorder(self, other: _TracedClass) -> None:
        msg = (
            "the step assigns its variables in another order on replicas with other "
            "local shapes; assign them in one order"
        )
        del other
        raise ValueError(msg)


class _CompiledRun:
    """How the replica context of a compiled step reaches the other replicas."""

    def __init__(
        self, frame: StepFrame, place: scope.Place, random: RandomState, replica_id: Any
    ) -> None:
        self._frame = frame
        self._place = place
        self._random = random
        self._replica_id = replica_id

    def merge(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        topology = self._place.topology
        count = topology.num_replicas

        def gathered(leaf: Any) -> Any:
            if not host.is_array(leaf):
                return leaf
            row = jnp.asarray(leaf)[None]
            rows = collectives.all_gather_p.bind(
                row, axis=0, size=1, total=count, num_replicas=count
            )
            return PerReplica.of_spread(Spread(rows, (row.shape[1:],), topology))

        def mine(leaf: Any) -> Any:
            if not isinstance(leaf, DistributedValues) or isinstance(leaf, Variable):
                return leaf
            return jnp.stack(leaf.values)[self._replica_id]

        all_args, all_kwargs = jax.tree.map(gathered, (args, kwargs), is_leaf=is_handle)
        with scope.enter(self._place):
            result = function(self._place.strategy, *all_args, **all_kwargs)
        return jax.tree.map(mine, result, is_leaf=is_handle)

    def gather_total(self, size: int) -> int:
        return self._frame.gather_total(size)

    def seed_and_step(self) -> jax.Array:
        return self._frame.seed_and_step(self._random)


def _is_spread(leaf: Any) -> bool:
    return isinstance(leaf, PerReplica) and not leaf.is_on_host()


def _require_returnable(leaf: Any) -> None:
    if isinstance(leaf, jax.core.Tracer):
        msg = f"a step returned {leaf}, which is not an array"
        raise TypeError(msg)


def _replaceable(recorded: _Trace, trace: _Trace) -> bool:
    """Whether one trace can stand where another was recorded."""
    return (
        recorded.treedef == trace.treedef
        and recorded.leaves == trace.leaves
        and recorded.written == trace.written
        and recorded.lifted.sources == trace.lifted.sources
    )


def _constants(trace: _Trace, recorded: _Trace, given: Sequence[Any]) -> list[Any]:
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


def _assumed(met: list[list[int]], counts: tuple[int, ...]) -> list[int] | None:
    """The totals that the first trace took for granted, if all classes agree."""
    total = sum(counts)
    assumed = [[n * total for n in sizes] for sizes in met]
    return assumed[0] if all(a == assumed[0] for a in assumed) else None


def _uneven_gathers(met: list[list[int]]) -> ValueError:
    return ValueError(
        f"all_gather is called {' or '.join(str(len(m)) for m in met)} times, "
        f"depending on the number of rows a replica has; all replicas have to meet in "
        f"the same operations"
    )


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function))
