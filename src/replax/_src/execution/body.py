"""Tracing the body of a function: once for each kind of call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from replax._src.core import host
from replax._src.core.jax_compat import ClosedJaxpr, Var
from replax._src.execution.inputs import Lifted, lift
from replax._src.execution.opaque import Grouping
from replax._src.execution.tracing import ProgramFrame, tracing
from replax._src.replica.randomness import RandomState
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues, PerReplica, Spread
from replax._src.values.handle import is_handle
from replax._src.values.variable import Variable

__all__ = ["Body", "Output", "PerReplicaArgument", "trace_body"]

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class PerReplicaArgument:
    """A per-replica argument of a call that is being traced.

    Attributes:
      aval: Type of the stacked array.
      shapes: The true shape of each replica's part.
      topology: The replicas.
    """

    aval: Any
    shapes: tuple[Shape, ...]
    topology: Topology


@dataclasses.dataclass(frozen=True)
class Output:
    """A leaf of the result that is the ``number``-th output of the program."""

    number: int
    per_replica: Topology | None


@dataclasses.dataclass(frozen=True)
class Body:
    """A traced function.

    Attributes:
      lifted: The jaxpr, with what it needs as inputs after the arguments.
      treedef: Structure of the result.
      leaves: The leaves of the result: an Output, a stand-in for an argument that
        passes through, or the value itself.
      written: The variables that are assigned; their leaves are the last outputs.
      topologies: The replicas that take part.
      draws: How many runs draw from each source of random numbers.
      name: What the function is called.
    """

    lifted: Lifted
    treedef: jax.tree_util.PyTreeDef
    leaves: tuple[Any, ...]
    written: tuple[Variable, ...]
    topologies: tuple[Topology, ...]
    draws: dict[RandomState, int]
    name: str

    @property
    def num_results(self) -> int:
        """How many outputs are the result; those of variables follow."""
        return sum(isinstance(leaf, Output) for leaf in self.leaves)


def trace_body(
    function: Callable[..., Any],
    treedef: jax.tree_util.PyTreeDef,
    leaves: Sequence[Any],
    grouping: Grouping,
    *,
    may_create: bool,
) -> Body:
    """Traces ``function`` for one kind of call.

    Args:
      function: What is being compiled.
      treedef: Structure of its arguments.
      leaves: A ShapedArray for each array, a PerReplicaArgument for each per-replica
        value, and everything else as it is.
      grouping: Which replicas have the same shapes.
      may_create: Whether variables may be created.
    """
    body = _trace(function, treedef, leaves, grouping, may_create=may_create)
    if isinstance(body, Body):
        return body
    # Variables were created: now that they have values, what the function does at every
    # later call is traced, where it may not create them again.
    body.initialise(sum(_is_input(leaf) for leaf in leaves))
    again = _trace(function, treedef, leaves, grouping, may_create=False)
    assert isinstance(again, Body)
    return again


def _is_input(leaf: Any) -> bool:
    return isinstance(leaf, (jax.core.ShapedArray, PerReplicaArgument))


def _trace(
    function: Callable[..., Any],
    treedef: jax.tree_util.PyTreeDef,
    leaves: Sequence[Any],
    grouping: Grouping,
    *,
    may_create: bool,
) -> Body | _Created:
    frame = ProgramFrame(grouping, may_create=may_create)
    outputs = _Outputs(frame)

    def body(*inputs: Any) -> list[Any]:
        with tracing(frame):
            args, kwargs = treedef.unflatten(_arguments(leaves, inputs, grouping))
            return outputs.of(function(*args, **kwargs))

    avals = [
        leaf.aval if isinstance(leaf, PerReplicaArgument) else leaf
        for leaf in leaves
        if _is_input(leaf)
    ]
    for leaf in leaves:
        if isinstance(leaf, PerReplicaArgument):
            frame.topologies[leaf.topology] = None
    closed = jax.make_jaxpr(body)(*avals)
    if frame.has_created:
        return _Created(lift(closed), frame, outputs.first_initial)
    return Body(
        lift(closed),
        outputs.treedef,
        outputs.leaves,
        tuple(frame.written),
        tuple(frame.topologies),
        frame.draws,
        getattr(function, "__qualname__", repr(function)),
    )


def _arguments(
    leaves: Sequence[Any], inputs: Sequence[Any], grouping: Grouping
) -> list[Any]:
    tracers = iter(inputs)
    arguments: list[Any] = []
    for leaf in leaves:
        if isinstance(leaf, PerReplicaArgument):
            by_class = grouping.by_class(leaf.shapes)
            spread = Spread(next(tracers), by_class, leaf.topology)
            arguments.append(PerReplica.of_spread(spread))
        elif _is_input(leaf):
            arguments.append(next(tracers))
        else:
            arguments.append(leaf)
    return arguments


class _Outputs:
    """What a traced function puts out."""

    treedef: jax.tree_util.PyTreeDef
    leaves: tuple[Any, ...]
    first_initial: int

    def __init__(self, frame: ProgramFrame) -> None:
        self._frame = frame

    def of(self, result: Any) -> list[Any]:
        """The outputs: the result, the variables, and new variables' first values."""
        flat, self.treedef = jax.tree_util.tree_flatten(result, is_leaf=is_handle)
        arrays: list[Any] = []
        leaves: list[Any] = []
        for leaf in flat:
            array, topology = self._array_of(leaf)
            if array is None:
                leaves.append(leaf)
            else:
                leaves.append(Output(len(arrays), topology))
                arrays.append(array)
        self.leaves = tuple(leaves)
        for variable in self._frame.written:
            arrays += self._frame.present(variable)
        self.first_initial = len(arrays)
        for values in self._frame.initial.values():
            arrays += values
        return arrays

    def _array_of(self, leaf: Any) -> tuple[Any, Topology | None]:
        if isinstance(leaf, Variable):
            return None, None
        if isinstance(leaf, PerReplica):
            if leaf.on_host:
                return None, None
            if leaf.spread is None and self._frame.topologies:
                for topology in self._frame.topologies:
                    if len(leaf.values) == len(topology.local_replicas):
                        return self._frame.spread(leaf, topology).stacked, topology
            assert leaf.spread is not None
            return leaf.spread.stacked, leaf.spread.topology
        if isinstance(leaf, DistributedValues):
            return None, None
        if host.is_array(leaf) or host.is_number(leaf):
            return jnp.asarray(leaf), None
        return None, None


@dataclasses.dataclass(frozen=True)
class _Created:
    """A trace in which variables were created."""

    lifted: Lifted
    frame: ProgramFrame
    first_initial: int

    def initialise(self, num_arguments: int) -> None:
        """Computes the first values of the new variables, from constants only."""
        (closed,) = self.lifted.traces
        jaxpr = closed.jaxpr
        position = self.first_initial
        arguments = set(jaxpr.invars[:num_arguments])
        known = self._known_inputs(num_arguments)
        for variable, leaves in self.frame.initial.items():
            wanted = jaxpr.outvars[position : position + len(leaves)]
            position += len(leaves)
            kept, needed = _needed(closed, wanted)
            if arguments & needed:
                msg = (
                    f"the initial value of variable {variable.name!r} depends on an "
                    f"argument of the function that creates it; create it before, or "
                    f"from values that are the same at every call"
                )
                raise ValueError(msg)
            inputs = [known.get(v, np.zeros((), np.int32)) for v in jaxpr.invars]
            variable.initialise(
                tuple(jax.core.eval_jaxpr(kept.jaxpr, kept.consts, *inputs))
            )

    def _known_inputs(self, num_arguments: int) -> dict[Any, Any]:
        (closed,) = self.lifted.traces
        rest = list(closed.jaxpr.invars[num_arguments:])
        known: dict[Any, Any] = {}
        for source, avals in zip(self.lifted.sources, self.lifted.avals, strict=True):
            mine, rest = rest[: len(avals)], rest[len(avals) :]
            if isinstance(source, Variable):
                known.update(zip(mine, source.store.first(), strict=True))
        known.update(zip(rest, self.lifted.constants, strict=True))
        return known


def _needed(closed: ClosedJaxpr, wanted: Sequence[Any]) -> tuple[ClosedJaxpr, set[Var]]:
    """The equations that some outputs need, and every variable among them."""
    needed = {atom for atom in wanted if isinstance(atom, Var)}
    eqns: list[Any] = []
    for eqn in reversed(closed.jaxpr.eqns):
        if needed & set(eqn.outvars):
            eqns.append(eqn)
            needed |= {atom for atom in eqn.invars if isinstance(atom, Var)}
    kept = closed.jaxpr.replace(outvars=list(wanted), eqns=eqns[::-1])
    return ClosedJaxpr(kept, closed.consts), needed
