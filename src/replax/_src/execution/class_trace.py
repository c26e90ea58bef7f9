"""A step as it was traced for replicas of one shape."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from replax._src.core import host
from replax._src.core.jax_compat import ClosedJaxpr
from replax._src.execution import divergence
from replax._src.execution.captures import captured_arrays
from replax._src.execution.inputs import lift
from replax._src.execution.tracing import StepFrame, Unreduced, tracing
from replax._src.execution.unreduced import unreduced_error
from replax._src.replica import collectives, scope
from replax._src.replica.randomness import RandomState
from replax._src.replica.replica_context import ReplicaContext
from replax._src.topology.topology import REPLICA_AXIS, Topology
from replax._src.values.distributed import DistributedValues, PerReplica, Spread
from replax._src.values.handle import is_handle
from replax._src.values.host_leaf import HostLeaf
from replax._src.values.variable import Variable

__all__ = ["ClassTrace", "StepCall", "StepInput", "StepOutput"]


@dataclasses.dataclass(frozen=True)
class StepOutput:
    """A leaf of a step's result that is the ``number``-th output.

    Attributes:
      number: Which output.
      is_one: Whether it is one object that all replicas return.
    """

    number: int
    is_one: bool = False


@dataclasses.dataclass(frozen=True)
class StepInput:
    """A leaf of a step's result that is its ``number``-th plain argument."""

    number: int


@dataclasses.dataclass(frozen=True)
class StepCall:
    """What is called on every replica.

    Attributes:
      function: The step.
      arguments: Makes its arguments of the inputs of one replica.
      num_own: How many inputs each replica has of its own; the others follow.
      place: The strategy's scope.
      random: The strategy's random numbers.
    """

    function: Callable[..., Any]
    arguments: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]]
    num_own: int
    place: scope.Place
    random: RandomState

    @property
    def name(self) -> str:
        """How to call the step in a message."""
        return getattr(self.function, "__qualname__", repr(self.function))


class ClassTrace:
    """The trace of a step for one shape class.

    Args:
      call: What is called.
      avals: The types of one replica's inputs.
      frame: Where the trace reads and writes variables.

    Attributes:
      treedef: Structure of the result.
      leaves: The leaves of the result: a StepOutput, or the value itself.
      written: The variables that are assigned, whose leaves follow the result.
    """

    treedef: jax.tree_util.PyTreeDef
    leaves: tuple[Any, ...]

    def __init__(self, call: StepCall, avals: Sequence[Any], frame: StepFrame) -> None:
        self._call = call
        self._frame = frame
        axis_env = [(REPLICA_AXIS, call.place.topology.num_replicas)]
        self._closed = jax.make_jaxpr(self._body, axis_env=axis_env)(*avals)
        self._num_inputs = len(avals)
        self.written = tuple(frame.written)
        self._prove_common()

    def _body(self, *inputs: Any) -> list[Any]:
        call = self._call
        with tracing(self._frame):
            count = call.place.topology.num_replicas
            replica_id = collectives.replica_id_p.bind(num_replicas=count)
            run = _CompiledRun(self._frame, call, replica_id)
            context = ReplicaContext(
                call.place.strategy, call.place.topology, replica_id, run
            )
            args, kwargs = call.arguments(inputs)
            plain = {id(x): i for i, x in enumerate(inputs[call.num_own :])}
            for value in (*inputs[call.num_own :], *captured_arrays(call.function)):
                self._frame.notes_one_object(value)
            with scope.enter(dataclasses.replace(call.place, replica=context)):
                result = call.function(*args, **kwargs)
            return self._outputs_of(result, plain)

    def _outputs_of(self, result: Any, plain: Mapping[int, int]) -> list[Any]:
        """What the trace puts out: the result, the variables, and what is checked."""
        flat, self.treedef = jax.tree_util.tree_flatten(result, is_leaf=is_handle)
        outputs: list[Any] = []
        leaves: list[Any] = []
        for leaf in flat:
            if id(leaf) in plain:
                leaves.append(StepInput(plain[id(leaf)]))
            elif host.is_array(leaf):
                is_one = self._frame.is_one_object(leaf)
                leaves.append(StepOutput(len(outputs), is_one))
                outputs.append(jnp.asarray(leaf))
            else:
                leaves.append(leaf.value if isinstance(leaf, HostLeaf) else leaf)
        self.leaves = tuple(leaves)
        for variable in self._frame.written:
            outputs += self._frame.present(variable)
        for unreduced in self._frame.unreduced:
            outputs += unreduced.leaves
        return outputs

    @property
    def num_results(self) -> int:
        """How many outputs are the result."""
        return sum(isinstance(leaf, StepOutput) for leaf in self.leaves)

    def closed(self, order: Sequence[Variable]) -> ClosedJaxpr:
        """The jaxpr, with the variables' leaves in the given order."""
        jaxpr = self._closed.jaxpr
        outvars = list(jaxpr.outvars[: self.num_results])
        position = self.num_results
        found: dict[Variable, list[Any]] = {}
        for variable in self.written:
            width = len(variable.specs)
            found[variable] = list(jaxpr.outvars[position : position + width])
            position += width
        for variable in order:
            outvars += found[variable]
        return ClosedJaxpr(jaxpr.replace(outvars=outvars), self._closed.consts)

    def require_same_form(self, other: ClassTrace) -> None:
        """Refuses replicas that would return or assign different things."""
        name = self._call.name
        if other.treedef != self.treedef or other.leaves != self.leaves:
            msg = (
                f"{name} returns {_form(self)} on replicas with one local shape and "
                f"{_form(other)} on replicas with another; return the same structure "
                f"and the same plain values whatever the number of rows"
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

    def _prove_common(self) -> None:
        """Shows what has to be equal on all replicas to be so.

        That is what is assigned without aggregation, and what decides whether replicas
        meet at all.
        """
        lifted = lift(self._closed)
        own = self._call.num_own
        varying = [True] * own + [False] * (self._num_inputs - own)
        for source, avals in zip(lifted.sources, lifted.avals, strict=True):
            differs = isinstance(source, Variable) and source.store.stacked
            varying += [differs] * len(avals)
        varying += [False] * len(lifted.constants)
        (closed,) = lifted.traces
        self._require_meetings(closed, varying)
        if self._frame.unreduced:
            differs = divergence.varying_outputs(closed, varying)
            position = self.num_results + sum(len(v.specs) for v in self.written)
            for unreduced in self._frame.unreduced:
                width = len(unreduced.leaves)
                if any(differs[position : position + width]):
                    raise _drifting(
                        unreduced,
                        "it is computed from what each replica has of its own",
                    )
                position += width

    def require_common(
        self, merged: ClosedJaxpr, varying: Sequence[bool], why: str
    ) -> None:
        """Refuses a program of all classes in which the replicas do not agree.

        Args:
          merged: The program; its outputs are the result and the written variables.
          varying: Which of its inputs differ between replicas.
          why: How a value comes to differ that does not in any one class.
        """
        self._require_meetings(merged, varying)
        unreduced = {note.variable: note for note in self._frame.unreduced}
        if not unreduced:
            return
        differs = divergence.varying_outputs(merged, varying)[self.num_results :]
        for variable in self.written:
            width = len(variable.specs)
            if variable in unreduced and any(differs[:width]):
                raise _drifting(unreduced[variable], why)
            differs = differs[width:]

    def _require_meetings(self, closed: ClosedJaxpr, varying: Sequence[bool]) -> None:
        where = divergence.diverging_meeting(closed, varying)
        if where is not None:
            msg = (
                f"{self._call.name} brings replicas together under a condition that "
                f"may differ between them ({where}), where some would wait for ever; "
                f"bring the condition together first with all_reduce, or call the "
                f"collective on all replicas and choose with jnp.where"
            )
            raise ValueError(msg)


def _drifting(unreduced: Unreduced, why: str) -> ValueError:
    return unreduced_error(unreduced.variable.name, unreduced.where, why)


class _CompiledRun:
    """How the replica context of a compiled step reaches the other replicas."""

    def __init__(self, frame: StepFrame, call: StepCall, replica_id: Any) -> None:
        self._frame = frame
        self._call = call
        self._replica_id = replica_id

    def merge(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Calls ``function`` once, on the values of all replicas."""
        place = self._call.place

        def gathered(leaf: Any) -> Any:
            return _gathered(leaf, place.topology) if host.is_array(leaf) else leaf

        def mine(leaf: Any) -> Any:
            if not isinstance(leaf, DistributedValues) or isinstance(leaf, Variable):
                if host.is_array(leaf):
                    leaf = jnp.array(leaf)  # which nothing else is, such as a variable
                    self._frame.notes_one_object(leaf)
                return leaf
            if isinstance(leaf, PerReplica) and leaf.spread is not None:
                return leaf.spread.stacked[self._replica_id]
            return jnp.stack(leaf.values)[self._replica_id]

        all_args, all_kwargs = jax.tree.map(gathered, (args, kwargs), is_leaf=is_handle)
        with scope.enter(place):
            result = function(place.strategy, *all_args, **all_kwargs)
        return jax.tree.map(mine, result, is_leaf=is_handle)

    def gather_total(self, size: int) -> int:
        """How many rows all replicas have, when this one has ``size``."""
        return self._frame.gather_total(size)

    def seed_and_step(self) -> jax.Array:
        """Seed and number of the step."""
        return self._frame.seed_and_step(self._call.random)


def _gathered(leaf: Any, topology: Topology) -> PerReplica:
    count = topology.num_replicas
    row = jnp.asarray(leaf)[None]
    rows = collectives.all_gather_p.bind(
        row, axis=0, size=1, total=count, num_replicas=count
    )
    return PerReplica.of_spread(Spread(rows, (row.shape[1:],), topology))


def _form(trace: ClassTrace) -> str:
    shown = [
        "an array" if isinstance(leaf, (StepInput, StepOutput)) else repr(leaf)
        for leaf in trace.leaves
    ]
    return str(trace.treedef.unflatten(shown))
