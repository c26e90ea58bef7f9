"""Methods of a strategy that are needed more rarely."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from replax._src.execution import across
from replax._src.replica.reduce_op import ReduceOp
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues, Mirrored
from replax._src.values.variable import Variable

if TYPE_CHECKING:
    from replax._src.strategies.strategy import Strategy

__all__ = ["StrategyExtended"]


class StrategyExtended:
    """What libraries built on strategies use; reached as ``strategy.extended``.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> strategy.extended.worker_devices
    ('/device:CPU:0', '/device:CPU:1')
    """

    def __init__(self, strategy: Strategy, topology: Topology) -> None:
        self._strategy = strategy
        self._topology = topology

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of this process's replicas, by name."""
        return tuple(
            f"/device:{d.platform.upper()}:{d.id}"
            for d in self._topology.local_devices
        )

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables are kept on, by name."""
        return self.worker_devices

    def call_for_each_replica(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """The same as ``strategy.run``."""
        return self._strategy.run(fn, args, kwargs)

    def reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value: Any,
        destinations: Any = None,
        options: Any = None,
    ) -> Mirrored:
        """The sum or mean of a per-replica value, on every replica."""
        del destinations, options
        total = across.reduce(reduce_op, value, None, self._topology)
        return self.broadcast_to(total)

    def batch_reduce_to(
        self,
        reduce_op: ReduceOp | str,
        value_destination_pairs: Sequence[tuple[Any, Any]],
        options: Any = None,
    ) -> list[Mirrored]:
        """:meth:`reduce_to` of several values."""
        return [
            self.reduce_to(reduce_op, value, destination, options)
            for value, destination in value_destination_pairs
        ]

    def broadcast_to(self, tensor: Any, destinations: Any = None) -> Mirrored:
        """A value on every replica."""
        del destinations
        if isinstance(tensor, jax.core.Tracer):
            return Mirrored((tensor,) * self._topology.num_replicas)
        return Mirrored(
            [
                jax.device_put(jnp.asarray(tensor), device)
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

        Mirrored arguments are given as the one value that they are.
        """
        del group
        plain = [
            a.values[0]
            if isinstance(a, DistributedValues) and not isinstance(a, Variable)
            else a
            for a in args
        ]
        return fn(var, *plain, **(kwargs or {}))

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
