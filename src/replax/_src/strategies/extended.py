"""Methods of a strategy that are needed more rarely."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core

from replax._src.core import host
from replax._src.execution import across
from replax._src.replica import scope
from replax._src.replica.reduce_op import ReduceOp
from replax._src.topology.devices import short_name
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues, Mirrored, PerReplica
from replax._src.values.handle import is_handle
from replax._src.values.variable import Variable

__all__ = ["StrategyExtended"]


class StrategyExtended:
    """What libraries built on strategies use; reached as ``strategy.extended``.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> strategy.extended.worker_devices[1]
    '/job:localhost/replica:0/task:0/device:CPU:1'
    """

    def __init__(self, topology: Topology, run: Callable[..., Any], task: str) -> None:
        self._topology = topology
        self._run = run
        self._task = task

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of this process's replicas, by name."""
        return tuple(
            f"{self._task}/device:{short_name(device)}"
            for device in self._topology.local_devices
        )

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables are kept on, by name."""
        return self.worker_devices

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Whether shapes have to be known beforehand: never."""
        return False

    @property
    def experimental_between_graph(self) -> bool:
        """Whether there are several processes, each with replicas of its own."""
        return self._topology.agreement is not None

    @property
    def experimental_should_init(self) -> bool:
        """Whether this process gives its variables initial values: always."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this process is the one that should save checkpoints."""
        return self._topology.agreement is None or self._topology.process_index == 0

    @property
    def should_save_summary(self) -> bool:
        """Whether this process is the one that should write summaries."""
        return self.should_checkpoint

    def call_for_each_replica(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """The same as ``strategy.run``."""
        return self._run(fn, args, kwargs)

    def reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value: Any,
        destinations: Any = None,
        options: Any = None,
    ) -> Any:
        """The sum or mean of a per-replica value, on every replica or on one device.

        Args:
          reduce_op: ``ReduceOp.SUM``, ``ReduceOp.MEAN`` or their names.
          value: A per-replica value.
          destinations: The name of a device, to get an array; with a variable or a
            value of the replicas the result is on every replica.
          options: Accepted; XLA chooses how replicas communicate.
        """
        del options
        self._require_between("reduce_to", "all_reduce")
        total = across.reduce(reduce_op, value, None, self._topology)
        return self.broadcast_to(total, destinations)

    def batch_reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value_destination_pairs: Sequence[tuple[Any, Any]],
        options: Any = None,
    ) -> list[Any]:
        """:meth:`reduce_to` of several values."""
        return [
            self.reduce_to(reduce_op, value, destination, options)
            for value, destination in value_destination_pairs
        ]

    def broadcast_to(self, tensor: Any, destinations: Any = None) -> Any:
        """A value on every replica, or on the one device that is named."""
        self._require_between("broadcast_to", "all_reduce")
        if self._topology.is_single or isinstance(destinations, str):
            return tensor
        if isinstance(tensor, jax.core.Tracer):
            return Mirrored((tensor,) * self._topology.num_replicas)
        whole = host.canonical(tensor, "the value to broadcast")
        return Mirrored(
            [
                jax.device_put(host.own_copy(whole), device)
                for device in self._topology.local_devices
            ]
        )

    def update(
        self,
        var: Variable,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        group: bool = True,
    ) -> Any:
        """Calls ``fn(var, *args)`` once, between the replicas, to change a variable.

        Args:
          var: The variable.
          fn: What changes it, by ``assign`` and the like.
          args: More arguments. Mirrored ones are given as the one value that they are.
          kwargs: The same by name.
          group: Whether what ``fn`` returns is returned as it is; otherwise as a tuple
            of what this process's replicas have of it.
        """
        self._require_between("update", "merge_call")
        plain, named = jax.tree.map(
            _one_value, (tuple(args), dict(kwargs or {})), is_leaf=is_handle
        )
        result = fn(var, *plain, **named)
        return result if group else jax.tree.map(self._parts, result, is_leaf=is_handle)

    def _parts(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, DistributedValues):
            return value.values
        return (value,) * len(self._topology.local_devices)

    def _require_between(self, what: str, instead: str) -> None:
        here = scope.current()
        if here is not None and here.replica is not None:
            msg = (
                f"strategy.extended.{what} inside of a step, which runs on one "
                f"replica; call get_replica_context().{instead} there, or {what} "
                f"between steps"
            )
            raise RuntimeError(msg)

    def value_container(self, value: Any) -> Any:
        """The per-replica value that ``value`` is a component of: itself."""
        return value

    def variable_created_in_scope(self, v: Variable) -> bool:
        """Whether a variable belongs to this strategy."""
        return v.topology is self._topology

    def colocate_vars_with(
        self, colocate_with_variable: Variable
    ) -> contextlib.AbstractContextManager[None]:
        """Variables made in it are kept where the given one is: on every replica."""
        if not self.variable_created_in_scope(colocate_with_variable):
            msg = (
                f"variable {colocate_with_variable.name!r} belongs to another strategy"
            )
            raise ValueError(msg)
        return contextlib.nullcontext()


def _one_value(leaf: Any) -> Any:
    if isinstance(leaf, PerReplica):
        msg = (
            "update with a per-replica value, of which a variable cannot take all "
            "components; reduce it first: strategy.reduce('MEAN', value, axis=None)"
        )
        raise TypeError(msg)
    if isinstance(leaf, DistributedValues) and not isinstance(leaf, Variable):
        return leaf.values[0]
    return leaf
