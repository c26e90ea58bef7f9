"""One compiled program: its inputs, its outputs, and how it is called."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from replax._src.core.jax_compat import ArrayClass, KeyArrayClass, uncommitted
from replax._src.execution.body import Body, Output, PerReplicaArgument
from replax._src.execution.call import Call
from replax._src.execution.equations import needs_mesh
from replax._src.execution.opaque import Classes, Grouping, replay
from replax._src.execution.promise import promise_of
from replax._src.replica.randomness import RandomState
from replax._src.topology import window
from replax._src.topology.placement import replicated
from replax._src.topology.topology import Topology
from replax._src.values.distributed import PerReplica, Spread
from replax._src.values.passing import Passing, PassingPerReplica
from replax._src.values.storage import Store
from replax._src.values.variable import Variable

__all__ = ["MixedDevicesError", "Program"]

Shape = tuple[int, ...]

# What is on some device already: arrays, and keys of random numbers.
_PLACED = (ArrayClass, KeyArrayClass)
# What stands for an argument that comes out as it went in.
_PASSING = (Passing, PassingPerReplica)


class MixedDevicesError(Exception):
    """Strategies over different replicas take part, which one program cannot span."""


class Program:
    """A traced body, compiled for one set of shapes.

    Args:
      body: What was traced.
      described: The leaves of the call: types in place of arrays.
      grouping: Which replicas have the same shapes.
      captured: Arrays that the function closes over and that may be other ones at the
        next call; each is found among the constants of the body by identity.
    """

    def __init__(
        self,
        body: Body,
        described: Sequence[Any],
        grouping: Grouping,
        captured: Sequence[Any],
    ) -> None:
        self.topology = _one_topology(body.topologies)
        self._body = body
        self._counts = grouping.counts
        self._arguments = _argument_types(described, grouping)
        self._constants = [_Constant(c, captured) for c in body.lifted.constants]
        self._inputs = [
            _SourceInput(source, self.topology, written=source in body.written)
            if isinstance(source, Variable)
            else source
            for source in body.lifted.sources
        ]
        self._fast_stores = self._all_stores_fit()
        self._shapes: dict[int, tuple[Shape, ...]] = {}
        self._moved = [v for v in body.written if v.topology != self.topology]
        self._written = [
            (None if v in self._moved else v.store, len(v.specs)) for v in body.written
        ]
        self._num_results = body.num_results
        self._is_single = self.topology.is_single
        self._is_uniform = len(self._counts) == 1
        self._has_token = not self._is_single and self.topology.is_cpu
        # What each leaf of the result is: the number of an output with the replicas it
        # is spread over, or the value itself.
        self._results = [
            (leaf.number, leaf.per_replica)
            if isinstance(leaf, Output)
            else (None, leaf)
            for leaf in body.leaves
        ]
        self._call = self._compiled()
        self._agreement = self.topology.agreement
        self._step = self.topology.step()
        self._promise = ""
        if self._agreement is not None:
            traced = self._call.trace(*self._input_types()).jaxpr
            self._promise = promise_of(body.name, described, traced)
        self._class_ids: dict[tuple[int, ...], jax.Array] = {}

    # --- building ---------------------------------------------------------------

    def _all_stores_fit(self) -> list[tuple[Store, bool]] | None:
        """The stores to take inputs from, if nothing has to be moved for them."""
        stores: list[tuple[Store, bool]] = []
        for source in self._inputs:
            if not isinstance(source, _SourceInput) or not source.fits:
                return None
            stores.append((source.variable.store, source.written))
        return stores

    def _compiled(self) -> Any:
        (closed,) = self._body.lifted.traces
        uniform = self._is_uniform

        def flat(*inputs: Any) -> list[Any]:
            ids = None if uniform else inputs[0]
            given = inputs if uniform else inputs[1:]
            values = [
                Spread(x, spec.shapes, spec.topology) if isinstance(spec, Spread) else x
                for x, spec in zip(given, self._arguments, strict=False)
            ] + list(given[len(self._arguments) :])
            self._wrap_captured(values)
            outputs = replay(closed, Classes(self._counts, ids), values)
            arrays: list[Any] = []
            for i, output in enumerate(outputs):
                if isinstance(output, Spread):
                    self._shapes[i] = output.shapes
                    arrays.append(output.stacked)
                else:
                    arrays.append(output)
            if self._has_token:
                arrays.append(jnp.zeros((), np.int32))
            return arrays

        first = 0 if uniform else 1
        program: Any = flat
        if self._is_single and needs_mesh(closed.jaxpr):
            # A collective of `jax.lax` over one replica, which has to know of the axis.
            whole = PartitionSpec()
            program = jax.shard_map(
                flat,
                mesh=self.topology.mesh,
                in_specs=whole,
                out_specs=whole,
                check_vma=False,
            )
        return jax.jit(
            program,
            donate_argnums=self._donated(first + len(self._arguments)),
            out_shardings=self._out_shardings(),
        )

    def _wrap_captured(self, values: list[Any]) -> None:
        """Gives captured per-replica values their shapes."""
        position = len(self._arguments)
        for source, avals in zip(
            self._body.lifted.sources, self._body.lifted.avals, strict=True
        ):
            if isinstance(source, PerReplica):
                topology = self.topology
                _, shapes = source.stack(topology, "a captured value")
                by_class = Grouping.of(shapes)
                values[position] = Spread(
                    values[position], by_class.by_class(shapes), topology
                )
            position += len(avals)

    def _donated(self, first: int) -> tuple[int, ...]:
        donated: list[int] = []
        position = first
        for source, avals in zip(self._inputs, self._body.lifted.avals, strict=True):
            if isinstance(source, _SourceInput) and source.fits and source.written:
                donated += range(position, position + len(avals))
            position += len(avals)
        return tuple(donated)

    def _out_shardings(self) -> list[Any] | Any:
        topology = self.topology
        if topology.is_single:
            return topology.replicated
        shardings: list[Any] = [
            topology.stacked if leaf.per_replica else topology.replicated
            for leaf in self._body.leaves
            if isinstance(leaf, Output)
        ]
        for variable in self._body.written:
            sharding = (
                topology.stacked if variable.store.stacked else topology.replicated
            )
            shardings += [sharding] * len(variable.specs)
        if self._has_token:
            shardings.append(topology.replicated)
        return shardings

    def moving_captures(self) -> frozenset[int]:
        """Which captured arrays are inputs, so that they may change."""
        moving = {c.index for c in self._constants if c.index is not None}
        return frozenset(moving)

    def trace(self) -> None:
        """Traces the program; that the body does not fit the shapes is found here."""
        self._call.trace(*self._input_types())

    def _input_types(self) -> list[Any]:
        avals: list[Any] = []
        if not self._is_uniform:
            avals.append(jax.core.ShapedArray((sum(self._counts),), np.dtype("int32")))
        avals += [a.stacked if isinstance(a, Spread) else a for a in self._arguments]
        for source_avals in self._body.lifted.avals:
            avals += source_avals
        avals += [jax.typeof(c) for c in self._body.lifted.constants]
        return [
            jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals
        ]

    # --- calling ----------------------------------------------------------------

    def __call__(self, call: Call, captured: Sequence[Any]) -> Any:
        """Runs the program.

        Args:
          call: The arguments.
          captured: What the function closes over now.
        """
        made: list[Sequence[jax.Array]] = []
        try:
            with self._step:
                if self._agreement is not None:
                    self._agreement.enter(self._promise)
                inputs = self._inputs_now(call, captured)
                # Called and kept by C, so that Ctrl-C comes before or after both: what
                # variables held is gone when the program has been called.
                made.extend(itertools.starmap(self._call, (inputs,)))
                (outputs,) = made
                self._store(outputs)
                if self._has_token:
                    window.admit(outputs[-1])
        except BaseException:
            for outputs in made:
                self._store(outputs)
            raise
        return self._results_of(outputs, call)

    # What follows runs at every step: calls that can be left out are left out.

    def _inputs_now(self, call: Call, captured: Sequence[Any]) -> list[Any]:
        """The inputs, in the order of the program."""
        flat = [] if self._is_uniform else [self._ids_on_device(call.grouping.ids)]
        stacks = iter(call.stacks)
        for value in call.inputs:
            if value is None:
                flat.append(next(stacks))
            elif type(value) in _PLACED and value.committed:
                flat.append(place(value, self.topology))
            else:
                flat.append(value)
        if self._fast_stores is not None:
            for store, donated in self._fast_stores:
                leaves = store.whole
                if leaves is None or (donated and store.exposed):
                    leaves = store.release() if donated else store.join()
                flat += leaves
        else:
            for source in self._inputs:
                flat += self._leaves_of(source)
        for constant in self._constants:
            flat += (constant.now(captured, self.topology),)
        return flat

    def _store(self, outputs: Sequence[jax.Array]) -> None:
        """Gives the variables what the program has made of them."""
        position = self._num_results
        for store, width in self._written:
            if store is not None:
                store.whole = tuple(outputs[position : position + width])
            position += width
        if self._moved:
            self._store_moved(outputs)

    def _results_of(self, outputs: Sequence[jax.Array], call: Call) -> Any:
        """What the function returns."""
        ids = call.grouping.ids
        results: list[Any] = []
        for number, topology in self._results:
            if number is None:
                passes = isinstance(topology, _PASSING)
                results.append(call.leaf(topology.position) if passes else topology)
            elif topology is not None:
                shapes = None if self._is_uniform else self._true_shapes(number, ids)
                results.append(PerReplica.of_stack(outputs[number], shapes, topology))
            elif self._is_single:
                results.append(outputs[number])
            else:
                results.append(uncommitted(outputs[number].addressable_data(0)))
        return self._body.treedef.unflatten(results)

    def _leaves_of(self, source: Any) -> Sequence[Any]:
        """The inputs that stand for something that the trace has found it needs."""
        if isinstance(source, RandomState):
            return (source.advance(self._body.draws[source]),)
        if isinstance(source, PerReplica):
            return (source.stack(self.topology, "a captured value")[0],)
        store: Store = source.variable.store
        if not source.fits:
            return [replicated(x, self.topology) for x in store.first()]
        return store.release() if source.written else store.join()

    def _ids_on_device(self, ids: tuple[int, ...]) -> jax.Array:
        if ids not in self._class_ids:
            self._class_ids[ids] = replicated(np.asarray(ids, np.int32), self.topology)
        return self._class_ids[ids]

    def _store_moved(self, outputs: Sequence[jax.Array]) -> None:
        """Puts back the variables that live elsewhere than the program runs."""
        position = self._num_results
        for variable in self._body.written:
            width = len(variable.specs)
            if variable.topology != self.topology:
                leaves = outputs[position : position + width]
                variable.store.fill([leaf.addressable_data(0) for leaf in leaves])
            position += width

    def _true_shapes(
        self, number: int, ids: tuple[int, ...]
    ) -> tuple[Shape, ...] | None:
        shapes = self._shapes.get(number)
        if shapes is None or all(shape == shapes[0] for shape in shapes):
            return None
        return tuple(shapes[i] for i in ids)


class _SourceInput:
    """A variable as an input of a program."""

    __slots__ = ("fits", "variable", "written")

    def __init__(
        self, variable: Variable, topology: Topology, *, written: bool
    ) -> None:
        self.variable = variable
        self.fits = variable.topology == topology
        self.written = written


class _Constant:
    """A value that the function closes over, which may be another one at each call."""

    __slots__ = ("_index", "_last", "_placed")

    def __init__(self, value: Any, captured: Sequence[Any]) -> None:
        self._index = _index_of(value, captured)
        self._last: Any = None
        self._placed: Any = value

    @property
    def index(self) -> int | None:
        """Its number among what the function closes over."""
        return self._index

    def now(self, captured: Sequence[Any], topology: Topology) -> Any:
        """The value as an input of the program."""
        value = self._placed if self._index is None else captured[self._index]
        if value is self._last:
            return self._placed
        placed = place(value, topology)
        if isinstance(value, _PLACED):
            self._last, self._placed = value, placed
        elif self._index is None:
            self._last = self._placed = placed
        return placed


def _argument_types(described: Sequence[Any], grouping: Grouping) -> tuple[Any, ...]:
    """The types of the inputs; a Spread of one for each per-replica value."""
    return tuple(
        Spread(leaf.aval, grouping.by_class(leaf.shapes), leaf.topology)
        if isinstance(leaf, PerReplicaArgument)
        else leaf
        for leaf in described
        if isinstance(leaf, (PerReplicaArgument, jax.core.ShapedArray))
    )


def place(value: Any, topology: Topology) -> Any:
    """An array from anywhere, as an input of a program over ``topology``."""
    if isinstance(value, _PLACED):
        if value.committed and value.sharding != topology.replicated:
            return replicated(value, topology)
        return value
    return np.asarray(value)


def _index_of(value: Any, captured: Sequence[Any]) -> int | None:
    for index, candidate in enumerate(captured):
        if candidate is value or _same_memory(candidate, value):
            return index
    return None


def _same_memory(a: Any, b: Any) -> bool:
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return False
    address = operator.itemgetter("data")
    return (
        address(a.__array_interface__) == address(b.__array_interface__)
        and a.shape == b.shape
        and a.dtype == b.dtype
    )


def _one_topology(topologies: Sequence[Topology]) -> Topology:
    many = [t for t in topologies if not t.is_single]
    if len(many) > 1:
        raise MixedDevicesError
    if many:
        return many[0]
    if topologies:
        return topologies[0]
    return Topology.of_default_device()
