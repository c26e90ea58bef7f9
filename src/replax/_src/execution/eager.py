"""The eager form of ``run``: the Python function is called once for each replica."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from replax._src.core import host, jax_compat
from replax._src.core.frames import user_location
from replax._src.core.jax_compat import ArrayClass, caller_settings
from replax._src.execution.baton import Turns
from replax._src.execution.components import Components
from replax._src.execution.meeting_places import (
    all_gathered,
    all_reduced,
    are_same,
    lengths_of_all,
)
from replax._src.execution.step_notes import note_no_rows, note_unbound_axis
from replax._src.execution.unreduced import Unreduced, require_equal
from replax._src.replica import scope
from replax._src.replica.randomness import RandomState
from replax._src.replica.replica_context import ReplicaContext
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues, PerReplica
from replax._src.values.handle import is_handle
from replax._src.values.storage import Leaves
from replax._src.values.variable import Variable

__all__ = ["merged_results", "run_eagerly"]

_log = logging.getLogger("replax")


class _Once:
    said = False


def run_eagerly(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: scope.Place,
    random: RandomState,
) -> Any:
    """Calls ``function`` on every replica, each with its own arguments and device.

    Args:
      function: The step.
      args: Its arguments; every replica gets its component of per-replica values.
      kwargs: The same by name.
      place: The strategy's scope.
      random: The strategy's random numbers.

    Returns:
      The results, merged: one value where all replicas returned the same object, and
      per-replica values elsewhere.
    """
    _require_untransformed()
    _say_once()
    topology = place.topology
    turns = Turns(len(topology.local_replicas))
    components = Components(args, kwargs, len(topology.local_replicas))
    session = _Session(turns, place, random, components.original)
    settings = caller_settings()

    def call(index: int) -> Any:
        device = topology.local_devices[index]
        my_args, my_kwargs = components.of(
            index, functools.partial(host.placed, device=device)
        )
        run = _ReplicaRun(session, index)
        context = ReplicaContext(
            place.strategy, topology, topology.local_replicas[index], run
        )
        here = scope.Place(
            place.strategy, topology, context, run, index, place.may_diverge
        )
        with settings(), jax.default_device(device), scope.enter(here):
            try:
                return function(*my_args, **my_kwargs)
            except Exception as error:
                if isinstance(error, NameError):
                    note_unbound_axis(error)
                note_no_rows(error, jax.tree.leaves((my_args, my_kwargs)))
                raise

    try:
        with topology.step():
            results = turns.run(call)
            require_equal(session.unreduced, topology.agreement)
    except BaseException as error:
        session.undo()
        if isinstance(error, ValueError) and "incompatible devices" in str(error):
            error.add_note(_SHARED_NOTE)
        raise
    return merged_results(results, "the step returned", topology, components.original)


# JAX names two devices; what is behind it is this.
_SHARED_NOTE = """
A replica uses an array that another replica has made. What a step keeps outside of
variables, such as the statistics of a module that it changes, is shared by the replicas
of an eager run. Keep it in a replax.Variable: for a Flax module, keep its state in one
and put the module together in the step with nnx.merge.
"""


def _require_untransformed() -> None:
    if not jax_compat.is_top_level():
        msg = (
            "strategy.run inside of a function that jax.grad, jax.vmap or the like "
            "transforms, which does not reach the other replicas; transform inside of "
            "the step: strategy.run(jax.grad(loss), ...)"
        )
        raise RuntimeError(msg)


def _say_once() -> None:
    if not _Once.said:
        _Once.said = True
        _log.warning(
            "strategy.run outside of a replax.function calls Python once a replica "
            "every step; wrap the training step in @replax.function to compile it"
        )


def _itself(value: Any) -> Any:
    return value


def merged_results(
    results: Sequence[Any],
    what: str,
    topology: Topology,
    original: Callable[[Any], Any] = _itself,
) -> Any:
    """One tree from those of all replicas.

    Args:
      results: The trees.
      what: What they are, for the error if they differ in structure.
      topology: The replicas.
      original: Says what a value is a replica's copy of, if it is one.
    """
    flat = [jax.tree_util.tree_flatten(r, is_leaf=is_handle) for r in results]
    treedef = flat[0][1]
    for index, (_, other) in enumerate(flat):
        if other != treedef:
            msg = (
                f"{what} {treedef} on replica 0 and {other} on replica {index}; give "
                f"the same structure everywhere"
            )
            raise ValueError(msg)
    columns = zip(*(leaves for leaves, _ in flat), strict=True)
    return treedef.unflatten([_merged(c, topology, original) for c in columns])


def _merged(
    column: tuple[Any, ...], topology: Topology, original: Callable[[Any], Any]
) -> Any:
    first = column[0]
    if topology.is_only_local and host.is_array(first):
        return PerReplica.on(column, topology)  # others may have other values
    if all(value is first for value in column):
        return first
    given = original(first)
    if given is not first and all(original(value) is given for value in column):
        return given if isinstance(given, ArrayClass) else jax_compat.uncommitted(first)
    return PerReplica.on(column, topology)


class _Session:
    """What the replicas of one eager run share."""

    def __init__(
        self,
        turns: Turns,
        place: scope.Place,
        random: RandomState,
        original: Callable[[Any], Any],
    ) -> None:
        self.turns = turns
        self.place = place
        self.original = original
        self.summands: list[list[Any]] = [[] for _ in place.topology.local_replicas]
        self.between = scope.Place(place.strategy, place.topology)
        self.home = jax_compat.setting("jax_default_device")
        self.unreduced: list[list[Unreduced]] = [
            [] for _ in place.topology.local_replicas
        ]
        self._random = random
        self._before: dict[Variable, tuple[Leaves, ...]] = {}

    def writes(self, variable: Variable) -> None:
        """Notes what a variable holds before the step first writes to it."""
        if variable not in self._before:
            self._before[variable] = variable.store.parts()

    def undo(self) -> None:
        """Takes back what a step that failed has written on some of the replicas."""
        for variable, parts in self._before.items():
            for index, leaves in enumerate(parts):
                variable.store.set_part(index, leaves)

    @functools.cached_property
    def seed_and_step(self) -> np.ndarray:
        return self._random.advance()

    def call_between(self, function: Callable[[], Any]) -> Any:
        """Calls ``function`` as code that runs between the replicas."""
        with jax.default_device(self.home), scope.enter(self.between):
            return function()


class _ReplicaRun:
    """How one replica of an eager run meets the others."""

    def __init__(self, session: _Session, index: int) -> None:
        self._session = session
        self._index = index

    def _meet(
        self, label: str, value: Any, combine: Callable[[list[Any]], Sequence[Any]]
    ) -> Any:
        return self._session.turns.meet(self._index, label, value, combine)

    # --- collectives ------------------------------------------------------------

    def all_reduce(self, values: Sequence[jax.Array]) -> list[jax.Array]:
        topology = self._session.place.topology
        return self._meet(
            f"all_reduce of {len(values)} arrays",
            list(values),
            lambda brought: all_reduced(brought, topology),
        )

    def all_gather(self, value: jax.Array, axis: int) -> jax.Array:
        topology = self._session.place.topology
        return self._meet(
            f"all_gather along axis {axis}",
            value,
            lambda brought: all_gathered(brought, axis, topology),
        )

    def reduce_scatter(self, value: jax.Array, axis: int, size: int) -> jax.Array:
        topology = self._session.place.topology

        def combine(brought: list[Any]) -> list[jax.Array]:
            sums = all_reduced([[array] for array, _ in brought], topology)
            lengths = lengths_of_all([length for _, length in brought], topology)
            ends = np.cumsum(lengths)[list(topology.local_replicas)]
            return [
                lax.slice_in_dim(total, int(end) - length, int(end), axis=axis)
                for (total,), end, (_, length) in zip(sums, ends, brought, strict=True)
            ]

        return self._meet(
            f"gradient of all_gather along axis {axis}", (value, size), combine
        )

    def gather_total(self, size: int) -> int:
        topology = self._session.place.topology

        def combine(sizes: list[int]) -> list[int]:
            return [sum(lengths_of_all(sizes, topology))] * len(sizes)

        return self._meet("all_gather", size, combine)

    # --- calls between the replicas ---------------------------------------------

    def merge(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        session = self._session

        def combine(brought: list[Any]) -> list[Any]:
            merged_args, merged_kwargs = merged_results(
                brought,
                "merge_call was given",
                session.place.topology,
                session.original,
            )
            result = session.call_between(
                lambda: function(session.place.strategy, *merged_args, **merged_kwargs)
            )
            return [_part_of(result, i) for i in range(len(brought))]

        return self._meet("merge_call", (tuple(args), kwargs), combine)

    def once(self, label: str, function: Callable[[], Any]) -> Any:
        def combine(brought: list[Any]) -> list[Any]:
            result = self._session.call_between(brought[0])
            return [result] * len(brought)

        return self._meet(label, function, combine)

    def is_same(self, value: Any) -> bool:
        """Whether all replicas come with an equal value."""
        topology = self._session.place.topology

        def combine(brought: list[Any]) -> list[bool]:
            return [are_same(brought, topology)] * len(brought)

        return self._meet("comparing a number", value, combine)

    def is_one_object(self, value: Any) -> bool:
        """Whether all replicas come with this object; the last one to come knows."""
        session = self._session
        mine = session.summands[self._index]
        known = session.original(value)
        # What else is the same may be so by chance, such as an array of NumPy's.
        is_known = known is not value or isinstance(value, ArrayClass)
        mine.append(known if is_known else object())
        number = len(mine) - 1
        if any(len(others) <= number for others in session.summands):
            return False
        column = [others[number] for others in session.summands]
        for others in session.summands:
            others[number] = None  # not to be kept longer
        return all(other is column[0] for other in column)

    # --- variables --------------------------------------------------------------

    def write(self, variable: Variable, leaves: Leaves) -> None:
        """Makes ``leaves`` what this replica has of a variable."""
        self._session.turns.require_going()
        self._session.writes(variable)
        # What is read of a variable is not what was assigned to it.
        original = self._session.original
        own = tuple(x if original(x) is x else jnp.array(x) for x in leaves)
        variable.store.set_part(self._index, own)

    def check_equal(self, variable: Variable, leaves: Leaves) -> None:
        """Notes what this replica assigns; compared when all replicas are done."""
        note = Unreduced(variable, leaves, user_location())
        self._session.unreduced[self._index].append(note)

    def seed_and_step(self) -> jax.Array:
        return jnp.asarray(self._session.seed_and_step)


def _part_of(result: Any, index: int) -> Any:
    def part(leaf: Any) -> Any:
        if isinstance(leaf, DistributedValues) and not isinstance(leaf, Variable):
            return leaf.values[index]
        return leaf

    return jax.tree.map(part, result, is_leaf=is_handle)
