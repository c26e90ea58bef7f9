"""What a step can ask and do about the replica it runs on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.core import host
from replax._src.core.jax_compat import ArrayClass
from replax._src.core.readable import read
from replax._src.replica import collectives, scope
from replax._src.replica.options import CommunicationOptions
from replax._src.replica.randomness import replica_key
from replax._src.replica.reduce_op import ReduceOp, mean_dtype
from replax._src.topology.topology import Topology

__all__ = ["ReplicaContext", "Run"]


class Run(Protocol):
    """The run that a context belongs to: what differs between its two forms."""

    def merge(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Calls ``function`` once for all replicas."""
        ...

    def gather_total(self, size: int) -> int:
        """How many rows all replicas have, when this one has ``size``."""
        ...

    def seed_and_step(self) -> jax.Array:
        """Seed and number of the step, and thereby the random numbers of the run."""
        ...


class ReplicaContext:
    """The replica that a step is running on.

    Obtained in a step with ``replax.distribute.get_replica_context()``.

    >>> import jax.numpy as jnp
    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> def step():
    ...     context = replax.distribute.get_replica_context()
    ...     return context.all_reduce(
    ...         "sum", jnp.float32(context.replica_id_in_sync_group)
    ...     )
    >>> strategy.experimental_local_results(strategy.run(step))
    (Array(1., dtype=float32), Array(1., dtype=float32))
    """

    def __init__(
        self, strategy: Any, topology: Topology, replica_id: Any, run: Run
    ) -> None:
        self._strategy = strategy
        self._topology = topology
        self._replica_id = replica_id
        self._run = run
        self._draws = 0

    @property
    def strategy(self) -> Any:
        """The strategy that runs the step."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """Over how many replicas values are brought together."""
        return self._topology.num_replicas

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Which replica this is: an int, or in a compiled step a traced integer."""
        return self._replica_id

    @property
    def devices(self) -> tuple[jax.Device, ...]:
        """The device of this replica; all replicas' devices in a compiled step."""
        if isinstance(self._replica_id, int):
            return (self._topology.devices[self._replica_id],)
        return self._topology.devices

    def all_reduce(
        self,
        reduce_op: ReduceOp | str,
        value: Any,
        options: CommunicationOptions | None = None,
    ) -> Any:
        """The sum or mean of the replicas' values, on every replica.

        Args:
          reduce_op: ``ReduceOp.SUM``, ``ReduceOp.MEAN`` or their names.
          value: An array or a nest of arrays, of the same shapes on all replicas.
          options: Hints for the communication.

        Returns:
          The same nest. Gradients flow through it: they are all-reduced themselves.
        """
        op = ReduceOp.of(reduce_op)
        self._require_here("all_reduce")
        leaves, treedef = jax.tree_util.tree_flatten(read(value))
        arrays = [_as_operand(leaf, "all_reduce") for leaf in leaves]
        kinds = [x.dtype for x in arrays]
        if op is ReduceOp.MEAN:
            arrays = [_wide(x) for x in arrays]
        count = self.num_replicas_in_sync
        if arrays and not self._topology.is_single:
            arrays = collectives.all_reduce(arrays, self._topology, options)
        if op is ReduceOp.MEAN:
            arrays = [
                x.astype(mean_dtype(kind)) / count
                for x, kind in zip(arrays, kinds, strict=True)
            ]
        return treedef.unflatten(arrays)

    def all_gather(
        self, value: Any, axis: int, options: CommunicationOptions | None = None
    ) -> Any:
        """The values of all replicas, one after the other along ``axis``.

        Args:
          value: An array or a nest of arrays. The replicas' may differ in the length
            of ``axis``.
          axis: Along which dimension to put them together.
          options: Hints for the communication.

        Returns:
          The same nest, on every replica. Gradients flow through it.
        """
        self._require_here("all_gather")
        del options
        if not isinstance(axis, (int, np.integer)):
            msg = f"axis is {axis!r}; give the dimension to put the values together by"
            raise TypeError(msg)
        leaves, treedef = jax.tree_util.tree_flatten(read(value))
        return treedef.unflatten([self._gathered(leaf, int(axis)) for leaf in leaves])

    def _gathered(self, leaf: Any, axis: int) -> jax.Array:
        array = _as_array(leaf, "all_gather")
        rank = array.ndim
        if not -rank <= axis < rank:
            msg = (
                f"all_gather along axis {axis} of a value of shape {array.shape}; a "
                f"value of rank {rank} has no such axis"
            )
            raise ValueError(msg)
        if self._topology.is_single:
            return array
        axis %= rank
        size = array.shape[axis]
        return collectives.all_gather_p.bind(
            array,
            axis=axis,
            size=size,
            total=self._run.gather_total(size),
            num_replicas=self.num_replicas_in_sync,
        )

    def merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Calls ``merge_fn(strategy, *args, **kwargs)`` once for all replicas.

        It runs between the replicas (``get_replica_context()`` is None in it) and sees
        the arguments of all of them as per-replica values.

        Returns:
          What it returned: per-replica values taken apart again, and everything else
          to every replica.
        """
        self._require_here("merge_call")
        return self._run.merge(merge_fn, tuple(args), dict(kwargs or {}))

    def prng_key(self) -> jax.Array:
        """A key for random numbers of this replica in this step.

        It depends on the strategy's seed, the number of the step, the replica, and how
        many keys were asked for before it in this step.
        """
        self._require_here("prng_key")
        draw, self._draws = self._draws, self._draws + 1
        return replica_key(self._run.seed_and_step(), self._replica_id, draw)

    def _require_here(self, what: str) -> None:
        here = scope.current()
        if here is None:
            return
        if here.replica is not self:
            msg = (
                f"{what} of a replica context that is not the running one; ask for "
                f"get_replica_context() again inside of the step"
            )
            raise RuntimeError(msg)

    def __repr__(self) -> str:
        return (
            f"ReplicaContext(replica {self._replica_id} of {self.num_replicas_in_sync})"
        )


def _as_array(leaf: Any, what: str) -> jax.Array:
    if isinstance(leaf, ArrayClass):
        return leaf
    if host.is_number(leaf):
        if type(leaf) is int:
            host.check_fits(leaf, f"the value of {what}")
        return jnp.asarray(leaf)
    if host.is_array(leaf):
        return jnp.asarray(host.canonical(leaf, f"the value of {what}"))
    msg = f"{what} of {leaf!r}; only arrays and numbers can be brought together"
    raise TypeError(msg)


def _as_operand(leaf: Any, what: str) -> jax.Array:
    """What can be added up; booleans to how many are true."""
    array = _as_array(leaf, what)
    if host.is_key(array.dtype):
        msg = (
            f"{what} of a key of random numbers, of which there is no sum; draw from "
            f"it first, or bring the keys together with all_gather"
        )
        raise TypeError(msg)
    return array.astype(jnp.int32) if array.dtype == jnp.bool_ else array


def _wide(array: jax.Array) -> jax.Array:
    """Small integers in a type that holds their sum, of which the mean is taken."""
    if not jnp.issubdtype(array.dtype, jnp.integer):
        return array
    return array.astype(jnp.promote_types(array.dtype, jnp.int32))
