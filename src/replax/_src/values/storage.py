"""Where the arrays of a variable are.

Compiled programs take and give a variable as whole arrays over the mesh; an eager step
works with one part a replica. A store holds either form and makes the other when it is
asked for it, without copying.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from replax._src.core import host, jax_compat
from replax._src.topology.placement import replicated
from replax._src.topology.topology import Topology

__all__ = ["Store"]

Leaves = tuple[jax.Array, ...]


class Store:
    """The leaves of one variable, on all replicas of a topology.

    Attributes:
      topology: The replicas.
      stacked: Whether the parts differ, so that the whole has a leading replica axis.
      whole: The leaves as arrays over the mesh; None when an eager step has replaced
        parts of them (see :meth:`join`). A program that ran puts its outputs here.
      exposed: Whether somebody else may hold the arrays, so that they must not be
        given to a program that reuses their memory.
    """

    __slots__ = ("_parts", "_parts_of", "exposed", "stacked", "topology", "whole")

    def __init__(self, topology: Topology, *, parts_differ: bool) -> None:
        self.topology = topology
        self.stacked = parts_differ and not topology.is_single
        self.exposed = False
        self.whole: Leaves | None = None
        self._parts: list[Leaves] = []
        self._parts_of: Leaves | None = None

    def join(self) -> Leaves:
        """The leaves as arrays over the mesh, put together if need be."""
        if self.whole is None:
            self.whole = self._parts_of = self._joined()
        return self.whole

    def fill(self, leaves: Sequence[jax.Array]) -> None:
        """Gives every replica a copy of ``leaves``."""
        topology = self.topology
        if not self.stacked:
            self.whole = tuple(replicated(x, topology) for x in leaves)
            self.exposed = True  # device_put may hand back the caller's own buffer
            return
        self._parts = [
            tuple(jax.device_put(x, device) for x in leaves)
            for device in topology.local_devices
        ]
        self.whole = None
        self.exposed = True

    def part(self, index: int) -> Leaves:
        """The leaves of the ``index``-th local replica, on its device."""
        return self._split()[index]

    def set_part(self, index: int, leaves: Sequence[Any]) -> None:
        """Replaces the leaves of one local replica; they may be on any device."""
        device = self.topology.local_devices[index]
        parts = self._split()
        parts[index] = tuple(host.placed(x, device) for x in leaves)
        self.whole = None
        self.exposed = True

    def parts(self) -> tuple[Leaves, ...]:
        """The leaves of every local replica."""
        return tuple(self._split())

    def first(self) -> Leaves:
        """The first local replica's leaves, usable with arrays of any device."""
        if self.topology.is_single:
            return self.join()
        return tuple(jax_compat.uncommitted(x) for x in self._split()[0])

    def release(self) -> Leaves:
        """The whole leaves for a program that may reuse their memory."""
        if self.exposed:
            self.whole = tuple(self._copied(x) for x in self.join())
            self.exposed = False
        return self.join()

    def copied(self) -> Store:
        """A store of its own for the same arrays, which neither may reuse."""
        self.exposed = True
        copy = Store(self.topology, parts_differ=self.stacked)
        copy.whole = self.join()
        copy.exposed = True
        return copy

    def _split(self) -> list[Leaves]:
        if self.whole is not None and self._parts_of is not self.whole:
            if self.topology.is_single:
                self._parts = [self.whole]
            else:
                columns = [self._shards(x) for x in self.whole]
                count = len(self.topology.local_devices)
                self._parts = [tuple(c[i] for c in columns) for i in range(count)]
            self._parts_of = self.whole
        return self._parts

    def _shards(self, leaf: jax.Array) -> list[jax.Array]:
        shards = [shard.data for shard in leaf.addressable_shards]
        if self.stacked:
            return [host.unrowed(shard) for shard in shards]
        return shards

    def _joined(self) -> Leaves:
        if self.topology.is_single:
            return self._parts[0]
        return tuple(self._join(column) for column in zip(*self._parts, strict=True))

    def _join(self, column: Sequence[jax.Array]) -> jax.Array:
        topology = self.topology
        shape = column[0].shape
        if not self.stacked:
            return jax.make_array_from_single_device_arrays(
                shape, topology.replicated, list(column)
            )
        rows = [host.row(x) for x in column]
        return jax.make_array_from_single_device_arrays(
            (topology.num_replicas, *shape), topology.stacked, rows
        )

    def _copied(self, leaf: jax.Array) -> jax.Array:
        if self.topology.agreement is None:
            return jnp.array(leaf, copy=True)
        # Each process copies what it has: nobody need wait for the others.
        copies = [jnp.array(s.data, copy=True) for s in leaf.addressable_shards]
        return jax.make_array_from_single_device_arrays(
            leaf.shape, leaf.sharding, copies
        )
