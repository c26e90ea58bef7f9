"""Strategies: where a step runs, how its values are brought together."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax

from replax._src.core import jax_compat
from replax._src.core.deprecation import warn_deprecated
from replax._src.execution import across
from replax._src.execution.eager import run_eagerly
from replax._src.execution.function import Function
from replax._src.execution.single import SingleRun, run_single
from replax._src.execution.step import run_compiled
from replax._src.replica import companions, scope
from replax._src.replica.randomness import RandomState
from replax._src.replica.reduce_op import ReduceOp
from replax._src.replica.replica_context import ReplicaContext
from replax._src.strategies.extended import StrategyExtended
from replax._src.strategies.run_options import RunOptions
from replax._src.strategies.value_context import ValueContext
from replax._src.topology.devices import short_name
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues, PerReplica
from replax._src.values.handle import is_handle

if TYPE_CHECKING:
    from replax._src.input.distributed_dataset import DistributedDataset
    from replax._src.input.explain import Explanation
    from replax._src.input.options import InputContext, InputOptions

__all__ = ["Strategy"]

_RUN_IN_MERGE = (
    "strategy.run in the function of a merge_call, in a step that is being compiled, "
    "whose replicas are waiting there; run the second step after the first"
)


class Strategy:
    """Runs a step on replicas, and keeps variables in step with each other.

    Made by one of its kinds, such as :class:`MirroredStrategy`; they differ in the
    replicas they have, and not in what the methods mean.

    >>> import replax
    >>> strategy = replax.distribute.get_strategy()
    >>> isinstance(strategy, replax.distribute.Strategy)
    True
    """

    def __init__(
        self,
        topology: Topology,
        *,
        is_default: bool = False,
        cluster_resolver: Any = None,
        task: str = "/job:localhost/replica:0/task:0",
    ) -> None:
        self._topology = topology
        self._cluster_resolver = cluster_resolver
        self._place = scope.Place(self, topology, is_default=is_default)
        self._random = RandomState()
        self._extended = StrategyExtended(topology, self.run, task)

    # --- what it is -------------------------------------------------------------

    @property
    def num_replicas_in_sync(self) -> int:
        """Over how many replicas gradients are brought together."""
        return self._topology.num_replicas

    @property
    def place(self) -> scope.Place:
        """This strategy's scope, as an entry of the stack of places."""
        return self._place

    @property
    def extended(self) -> StrategyExtended:
        """Methods that are needed more rarely."""
        return self._extended

    @property
    def cluster_resolver(self) -> Any:
        """What found the cluster; None where nothing looks for one."""
        return self._cluster_resolver

    @property
    def mesh(self) -> jax.sharding.Mesh:
        """The mesh of the replicas, with the axis ``"replica"``."""
        return self._topology.mesh

    def set_seed(self, seed: int) -> None:
        """Begins the random numbers of ``prng_key()`` anew, from a seed."""
        self._random.seed = int(seed)
        self._random.step = 0

    def _only_replica(self) -> ReplicaContext:
        run = SingleRun(self._place, self._random)
        return ReplicaContext(self, self._topology, 0, run)

    def __repr__(self) -> str:
        names = ", ".join(short_name(device) for device in self._topology.local_devices)
        agreement = self._topology.agreement
        if agreement is None:
            return f"{type(self).__name__}({names})"
        group = agreement.coordination
        return f"{type(self).__name__}({names} of rank {group.rank} of {group.size})"

    # --- scope ------------------------------------------------------------------

    def scope(self) -> contextlib.AbstractContextManager[Strategy]:
        """Makes this the current strategy.

        Variables created in the scope are kept on every replica. Entering the scope
        distributes no computation by itself; ``run`` does.
        """
        return self._scope()

    @contextlib.contextmanager
    def _scope(self) -> Generator[Strategy]:
        self._require_enterable("scope")
        if self._place.is_default:
            yield self  # it is current already: nothing changes
            return
        with (
            scope.enter(self._place),
            self._topology.meeting(),
            companions.entered(self._place),
        ):
            yield self

    def _require_enterable(self, what: str) -> None:
        here = scope.current()
        if here is None:
            return
        if here.replica is not None:
            msg = (
                f"{what} of {self!r} inside of a step, which runs on one replica; "
                f"call it outside of the function given to strategy.run"
            )
            raise RuntimeError(msg)
        if here.strategy is not self and not here.is_default:
            msg = (
                f"{what} of {self!r} inside of the scope of {here.strategy!r}; "
                f"strategies do not nest: leave that scope first, or use its strategy"
            )
            raise RuntimeError(msg)

    # --- running ----------------------------------------------------------------

    def run(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: RunOptions | None = None,
    ) -> Any:
        """Calls ``fn`` on every replica, each with its component of the arguments.

        In a :func:`replax.function`, or of one, the run is compiled into one program
        for all replicas. Elsewhere it is eager: ``fn`` is called as Python, once for
        each replica, at every step.

        Args:
          fn: The step. ``replax.distribute.get_replica_context()`` in it is the
            replica it runs on.
          args: Its arguments. Of per-replica values each replica gets its own; all
            else reaches every replica as it is.
          kwargs: The same by name.
          options: Options of this run.

        Returns:
          What ``fn`` returned. Where the replicas returned different objects, a
          per-replica value; with one replica, the plain value.
        """
        self._require_enterable("run")
        if not isinstance(args, (list, tuple)):
            msg = (
                f"args is a {type(args).__name__}; give a tuple of the step's "
                f"arguments: args=(x,)"
            )
            raise ValueError(msg)  # noqa: TRY004 - as TensorFlow does
        args, kwargs = tuple(args), dict(kwargs or {})
        if options is not None and not isinstance(options, RunOptions):
            msg = f"options is {options!r}; give a RunOptions, or None"
            raise TypeError(msg)
        place = self._place
        if options is not None and options.may_diverge:
            place = dataclasses.replace(place, may_diverge=True)
        step: Any = fn.python_function if isinstance(fn, Function) else fn
        frame: Any = scope.current_frame()
        if frame is not None:
            if frame.per_replica:
                raise RuntimeError(_RUN_IN_MERGE)
            if place.topology.is_single:
                frame.topologies[place.topology] = None
                step = companions.stepping(step)
                return run_single(step, args, kwargs, place, self._random)
            with scope.enter(place):
                step = companions.stepping(step)
                return run_compiled(step, args, kwargs, place, self._random, frame)
        if jax_compat.is_staging():
            msg = (
                "strategy.run inside of a function that jax.jit, scan or the like is "
                "tracing; use replax.function in place of jax.jit"
            )
            raise RuntimeError(msg)
        if isinstance(fn, Function) or scope.in_host_program():
            return self._run_as_program(fn, args, kwargs, options, place)
        return self._run_as_python(step, args, kwargs, place)

    def _run_as_python(
        self,
        step: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        place: scope.Place,
    ) -> Any:
        step = companions.stepping(step)
        if place.topology.is_single:
            return run_single(step, args, kwargs, place, self._random)
        return run_eagerly(step, args, kwargs, place, self._random)

    def _run_as_program(
        self,
        fn: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        options: RunOptions | None,
        place: scope.Place,
    ) -> Any:
        step: Any = fn.python_function if isinstance(fn, Function) else fn
        program = getattr(fn, "run_programs", {}).get((self, options))
        if program is None:

            def run(args: Any, kwargs: Any) -> Any:
                return self.run(step, args, kwargs, options)

            def run_as_python(args: Any, kwargs: Any) -> Any:
                return self._run_as_python(step, args, kwargs, place)

            program = Function(run, stands_for=step, on_host=run_as_python)
            if isinstance(fn, Function):
                fn.run_programs[self, options] = program
        return program(args, kwargs)

    # --- bringing together ------------------------------------------------------

    def reduce(self, reduce_op: ReduceOp | str, value: Any, axis: Any) -> Any:
        """The sum or mean of a value over the replicas.

        Args:
          reduce_op: ``ReduceOp.SUM``, ``ReduceOp.MEAN`` or their names.
          value: A per-replica value; with ``axis=None``, a nest of them.
          axis: None, to reduce over the replicas only; or a dimension (or several) of
            each replica's value to reduce as well. A mean then divides by the number
            of elements there really are, partial batches and empty replicas included.

        Returns:
          An array on one device.
        """
        self._require_between("reduce", "all_reduce")
        self._require_enterable("reduce")
        return across.reduce(reduce_op, value, axis, self._topology)

    def gather(self, value: Any, axis: int) -> Any:
        """The values of all replicas, one after the other along ``axis``.

        Args:
          value: A per-replica value; the lengths of ``axis`` may differ.
          axis: Along which dimension.

        Returns:
          An array on one device.
        """
        self._require_between("gather", "all_gather")
        self._require_enterable("gather")
        return across.gather(value, axis, self._topology)

    def _require_between(self, what: str, instead: str) -> None:
        here = scope.current()
        if here is not None and here.replica is not None:
            msg = (
                f"strategy.{what} inside of a step, which sees one replica's value; "
                f"call replax.distribute.get_replica_context().{instead} there, or "
                f"{what} what strategy.run returns"
            )
            raise RuntimeError(msg)

    # --- input ------------------------------------------------------------------

    def experimental_distribute_dataset(
        self, dataset: Any, options: InputOptions | None = None
    ) -> DistributedDataset:
        """A dataset of which each replica gets its part of every element.

        Args:
          dataset: A dataset of batches. A batch is what all replicas get together at
            one step; it is split by its first dimension, and need not divide: the
            last replicas then get fewer rows, or none.
          options: How elements are handed out.

        Returns:
          What to loop over; it gives per-replica values, for ``run``.
        """
        self._require_enterable("experimental_distribute_dataset")
        # Loaded here: programs without datasets need not wait for it.
        from replax._src.strategies import distribution  # noqa: PLC0415

        return distribution.distribute_dataset(dataset, options, self._place)

    def distribute_datasets_from_function(
        self,
        dataset_fn: Callable[[InputContext], Any],
        options: InputOptions | None = None,
    ) -> DistributedDataset:
        """A dataset of which each replica gets whole elements.

        Args:
          dataset_fn: Makes the dataset; called once, with an ``InputContext``. Batches
            are to have the size that one replica gets:
            ``context.get_per_replica_batch_size(global_batch_size)``.
          options: How elements are handed out.

        Returns:
          What to loop over; it gives per-replica values, for ``run``.
        """
        self._require_enterable("distribute_datasets_from_function")
        from replax._src.strategies import distribution  # noqa: PLC0415

        return distribution.distribute_from_function(dataset_fn, options, self._place)

    def experimental_distribute_datasets_from_function(
        self,
        dataset_fn: Callable[[InputContext], Any],
        options: InputOptions | None = None,
    ) -> DistributedDataset:
        """The older name of ``distribute_datasets_from_function``."""
        warn_deprecated("Strategy.experimental_distribute_datasets_from_function")
        return self.distribute_datasets_from_function(dataset_fn, options)

    def explain(self, dataset: Any) -> Explanation:
        """Who reads what of a dataset, and what each replica gets at each step.

        Nothing is read for it. Printed, it is a table; in a notebook too.

        Args:
          dataset: A dataset of batches over all replicas, or a distributed dataset.

        >>> import replax
        >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        >>> strategy.explain(replax.data.Dataset.range(10).batch(4)).steps
        3
        """
        from replax._src.strategies import distribution  # noqa: PLC0415

        return distribution.explain(dataset, self._place)

    # --- per-replica values -----------------------------------------------------

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The components of this process's replicas, as a tuple.

        Of a nest there is one nest a replica; of a plain value, the value itself.
        """
        if isinstance(value, DistributedValues):
            return value.values
        leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=is_handle)
        if value is None or (len(leaves) == 1 and leaves[0] is value):
            return (value,)
        count = len(self._topology.local_replicas)
        columns = [
            leaf.values if isinstance(leaf, DistributedValues) else (leaf,) * count
            for leaf in leaves
        ]
        return tuple(treedef.unflatten([c[i] for c in columns]) for i in range(count))

    def experimental_distribute_values_from_function(
        self, value_fn: Callable[[ValueContext], Any]
    ) -> Any:
        """Makes a per-replica value, with one call of ``value_fn`` for each replica.

        Args:
          value_fn: Given a :class:`ValueContext`, returns the replica's value.

        Returns:
          A per-replica value, or a nest of them if ``value_fn`` returns a nest; with
          one replica, the plain value.
        """
        self._require_enterable("experimental_distribute_values_from_function")
        count = self._topology.num_replicas
        values = [
            value_fn(ValueContext(i, count)) for i in self._topology.local_replicas
        ]
        if self._topology.is_single:
            return values[0]
        flat = [jax.tree_util.tree_flatten(value) for value in values]
        treedef = flat[0][1]
        if any(other != treedef for _, other in flat):
            msg = (
                f"value_fn returned the structures "
                f"{', '.join(str(t) for _, t in flat)}; return the same for each "
                f"replica"
            )
            raise ValueError(msg)
        columns = zip(*(leaves for leaves, _ in flat), strict=True)
        return treedef.unflatten(
            [PerReplica.on(column, self._topology) for column in columns]
        )
