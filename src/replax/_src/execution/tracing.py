"""Functions being traced: what they read, write, and need as inputs.

Every trace runs under a user context of its own, so that JAX's caches never serve the
tracers of one trace to another: a module-level ``jax.jit`` function that reads a
variable is traced anew for each of them.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Generator, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from replax._src.core import jax_compat
from replax._src.core.frames import user_location
from replax._src.execution.inputs import input_p
from replax._src.execution.opaque import Grouping
from replax._src.replica import scope
from replax._src.replica.randomness import RandomState
from replax._src.topology.topology import Topology
from replax._src.values.distributed import PerReplica, Spread
from replax._src.values.storage import Leaves
from replax._src.values.variable import Variable

__all__ = ["ProgramFrame", "StepFrame", "Unreduced", "tracing"]

_SEED_AND_STEP = (jax.core.ShapedArray((2,), np.dtype("uint32")),)
_trace_number = jax.make_user_context(default_value=None)
_numbers = itertools.count(1)


@contextlib.contextmanager
def tracing(frame: ProgramFrame | StepFrame) -> Generator[None]:
    """Runs a function's body for ``frame``; entered when its trace has begun."""
    frame.trace = jax_compat.current_trace()
    with scope.enter_frame(frame), _trace_number(next(_numbers)):
        yield


class _Frame:
    """Reading and writing variables in a function that is being traced."""

    per_replica: bool
    trace: Any = None

    def __init__(self) -> None:
        self._present: dict[Variable, Leaves] = {}
        self._inputs: dict[int, Leaves] = {}
        self.written: dict[Variable, None] = {}

    def read(self, variable: Variable) -> Leaves:
        """The variable's present leaves, as tracers."""
        if variable not in self._present:
            self._present[variable] = self._input(variable, self._avals(variable))
        return self._present[variable]

    def write(self, variable: Variable, leaves: Leaves) -> None:
        """Makes ``leaves`` the variable's value for what follows."""
        if not jax_compat.is_recording_on(self.trace):
            raise _lost_assignment(variable)
        for leaf in leaves:
            if (
                isinstance(leaf, jax.core.Tracer)
                and jax_compat.trace_of(leaf) is not self.trace
            ):
                raise _lost_assignment(variable)
        self._present[variable] = tuple(self._own(leaf) for leaf in leaves)
        self.written[variable] = None

    def _own(self, leaf: Any) -> jax.Array:
        """What a variable holds: what is read of it is not what was assigned."""
        return jnp.asarray(leaf)

    def present(self, variable: Variable) -> Leaves:
        """What the variable's leaves are when the function returns."""
        return self._present[variable]

    def seed_and_step(self, random: RandomState) -> jax.Array:
        """Seed and number of the running step."""
        return self._input(random, _SEED_AND_STEP)[0]

    def _avals(self, variable: Variable) -> tuple[Any, ...]:
        return tuple(jax.core.ShapedArray(s.shape, s.dtype) for s in variable.specs)

    def _input(self, source: Any, avals: tuple[Any, ...]) -> Leaves:
        if id(source) not in self._inputs:
            # However deep inside of jit or scan the read is, the input is recorded in
            # the function's own trace, and closed over from there.
            with jax_compat.on_trace(self.trace):
                leaves = input_p.bind(source=source, avals=avals)
            self._inputs[id(source)] = tuple(leaves)
        return self._inputs[id(source)]


class ProgramFrame(_Frame):
    """The body of a function that is being compiled into one program."""

    per_replica = False

    def __init__(self, grouping: Grouping, *, may_create: bool) -> None:
        super().__init__()
        self.grouping = grouping
        self.initial: dict[Variable, Leaves] = {}
        self.topologies: dict[Topology, None] = {}
        self.draws: dict[RandomState, int] = {}
        # Variables that steps have returned, which is what each replica has of them.
        self.from_steps: set[Variable] = set()
        self.has_created = False
        self._may_create = may_create

    def read(self, variable: Variable) -> Leaves:
        self.topologies[variable.topology] = None
        return super().read(variable)

    def seed_and_step(self, random: RandomState) -> jax.Array:
        """Seed and number of the next run that draws: each run is a step."""
        first = super().seed_and_step(random)
        runs = self.draws.get(random, 0)
        self.draws[random] = runs + 1
        with jax_compat.on_trace(self.trace):
            return first + np.array([0, runs], np.uint32)

    def spread(self, value: PerReplica, topology: Topology) -> Spread:
        """A per-replica value as this program has it.

        One that comes from outside becomes an input of the program.
        """
        if value.spread is not None:
            return value.spread
        stacked, shapes = value.stack(topology, "a per-replica value")
        by_class = self.grouping.by_class(shapes)
        self.topologies[topology] = None
        if isinstance(stacked, jax.core.Tracer):
            return Spread(stacked, by_class, topology)
        aval = jax.core.ShapedArray(stacked.shape, stacked.dtype)
        return Spread(self._input(value, (aval,))[0], by_class, topology)

    def creates_variable(self) -> None:
        """Refuses a variable that would be made anew at every trace."""
        if not self._may_create:
            msg = (
                "a variable is created in a function that was traced before, so that "
                "it would be made anew at every call; create it in the first call "
                "only (if self.v is None: self.v = Variable(...)), or before"
            )
            raise ValueError(msg)
        self.has_created = True

    def initialise(self, variable: Variable, leaves: Leaves) -> None:
        """Takes these tracers for the initial value of a new variable."""
        self.initial[variable] = leaves
        self._present[variable] = self._spread_out(variable, leaves)

    def _spread_out(self, variable: Variable, leaves: Leaves) -> Leaves:
        if not variable.store.stacked:
            return leaves
        count = variable.topology.num_replicas
        return tuple(jnp.broadcast_to(x, (count, *x.shape)) for x in leaves)

    def _avals(self, variable: Variable) -> tuple[Any, ...]:
        if not variable.store.stacked:
            return super()._avals(variable)
        count = variable.topology.num_replicas
        return tuple(
            jax.core.ShapedArray((count, *s.shape), s.dtype) for s in variable.specs
        )

    def check_unreduced(self, variable: Variable, leaves: Leaves) -> None:
        """Between steps there is one value; nothing to check."""

    def gather_total(self, size: int) -> int:
        """Between steps there is one value."""
        return size

    def is_one_object(self, value: Any) -> bool:
        """Between steps all objects are."""
        del value
        return True


class Unreduced:
    """A value that replicas assign without aggregation, to be proven common."""

    def __init__(self, variable: Variable, leaves: Leaves) -> None:
        self.variable = variable
        self.leaves = leaves
        self.where = user_location()


class StepFrame(_Frame):
    """A step that is traced for one shape class of replicas."""

    per_replica = True

    def __init__(
        self, topology: Topology, row_totals: dict[int, int], totals: Sequence[int]
    ) -> None:
        super().__init__()
        self._topology = topology
        self._row_totals = row_totals
        self._totals = totals
        self.gathered: list[tuple[int, int]] = []
        self.unreduced: list[Unreduced] = []
        self._one_objects: dict[int, Any] = {}
        self._outside = jax_compat.current_trace()

    def creates_variable(self) -> None:
        """Variables with constant initial values may be made in a first step."""

    def initialise(self, variable: Variable, leaves: Leaves) -> None:
        """Refuses an initial value that each replica would compute by itself."""
        del leaves
        msg = (
            f"the initial value of variable {variable.name!r} is computed in a "
            f"compiled step, where it has no value yet; create the variable before "
            f"the step, or give a callable: Variable(lambda: jnp.zeros(3))"
        )
        raise ValueError(msg)

    def _own(self, leaf: Any) -> jax.Array:
        return jnp.array(leaf) if self.is_one_object(leaf) else jnp.asarray(leaf)

    def notes_one_object(self, value: Any) -> None:
        """Notes that all replicas get what is one object outside of the step."""
        self._one_objects[id(value)] = value

    def is_one_object(self, value: Any) -> bool:
        """Whether this stands for one object that all replicas have."""
        if id(value) in self._one_objects:
            return True
        return (
            isinstance(value, jax.core.Tracer)
            and jax_compat.trace_of(value) is self._outside
        )

    def check_unreduced(self, variable: Variable, leaves: Leaves) -> None:
        """Notes that replicas assign these leaves without any aggregation."""
        arrays = tuple(jnp.asarray(leaf) for leaf in leaves)
        self.unreduced.append(Unreduced(variable, arrays))

    def gather_total(self, size: int) -> int:
        """How many rows all replicas have, when this one has ``size``.

        The other shape classes are traced by themselves, so it is taken for granted
        here: from what a former trace has found out, or else from the arguments, which
        mostly are what is gathered. What was taken is checked when all are traced.
        """
        position = len(self.gathered)
        if position < len(self._totals):
            total = self._totals[position]
        else:
            total = self._row_totals.get(size, size * self._topology.num_replicas)
        self.gathered.append((size, total))
        return total


def _lost_assignment(variable: Variable) -> RuntimeError:
    return RuntimeError(
        f"variable {variable.name!r} is assigned inside of jax.jit, scan, cond, vmap "
        f"or the like ({user_location()}), where an assignment would be lost; return "
        f"the new value from there, and assign it to the variable outside"
    )
