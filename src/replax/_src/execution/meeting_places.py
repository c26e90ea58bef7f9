"""What is done where the replicas of an eager run meet, here and on other processes."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec

from replax._src.cluster.agreement import written
from replax._src.core import host
from replax._src.replica.collectives import summed
from replax._src.topology import window
from replax._src.topology.topology import Topology

__all__ = ["all_gathered", "all_reduced", "are_same", "lengths_of_all"]


@functools.cache
def _summing_program(topology: Topology) -> Callable[..., list[jax.Array]]:
    # Each device holds a value of its own under a sharding that says "replicated":
    # it enters and leaves without being stacked or sliced.
    def sums(*operands: jax.Array) -> tuple[list[jax.Array], jax.Array]:
        return summed(operands, topology), jnp.zeros((), jnp.int32)

    return jax.jit(
        jax.shard_map(
            sums,
            mesh=topology.mesh,
            in_specs=PartitionSpec(),
            out_specs=PartitionSpec(),
            check_vma=False,
        )
    )


def all_reduced(
    brought: list[list[jax.Array]], topology: Topology
) -> list[list[jax.Array]]:
    """The sums over all replicas of what each has brought, on the device of each."""
    wholes: list[jax.Array] = []
    for position, column in enumerate(zip(*brought, strict=True)):
        if len({(x.dtype, x.shape) for x in column}) > 1:
            msg = (
                f"all_reduce of values that differ between replicas: array {position} "
                f"is {', '.join(map(_kind, column))}; sum over the batch axis first, "
                f"or use all_gather for values of different lengths"
            )
            raise ValueError(msg)
        placed = [
            host.placed(x, device)
            for x, device in zip(column, topology.local_devices, strict=True)
        ]
        wholes.append(
            jax.make_array_from_single_device_arrays(
                placed[0].shape, topology.replicated, placed
            )
        )
    if topology.agreement is not None:
        leaves = [(f"array {i}", _kind(x)) for i, x in enumerate(wholes)]
        # Also where this was done before: what an eager step does next is not known
        # before it is done, and its Python takes far longer than asking.
        topology.agreement.exchange(written("all_reduce", leaves), "")
    sums, token = _summing_program(topology)(*wholes)
    if topology.is_cpu:
        window.admit(token)
    columns = [[shard.data for shard in total.addressable_shards] for total in sums]
    return [[c[i] for c in columns] for i in range(len(topology.local_devices))]


def all_gathered(
    brought: list[jax.Array], axis: int, topology: Topology
) -> list[jax.Array]:
    """What all replicas have brought, one after the other along an axis."""
    others = {(x.dtype, *x.shape[:axis], *x.shape[axis + 1 :]) for x in brought}
    if len(others) > 1:
        msg = (
            f"all_gather along axis {axis} of {', '.join(map(_kind, brought))}; the "
            f"replicas' values may differ in the length of that axis only"
        )
        raise ValueError(msg)
    if topology.agreement is not None:
        return _gathered_between_processes(brought, axis, topology)
    home = topology.local_devices[0]
    whole = jnp.concatenate([jax.device_put(x, home) for x in brought], axis)
    return [jax.device_put(whole, device) for device in topology.local_devices]


def _gathered_between_processes(
    brought: list[jax.Array], axis: int, topology: Topology
) -> list[jax.Array]:
    rest = ["" if i == axis else str(n) for i, n in enumerate(brought[0].shape)]
    kind = f"{np.dtype(brought[0].dtype).name}[{','.join(rest)}]"
    lengths = lengths_of_all(
        [x.shape[axis] for x in brought],
        topology,
        written(f"all_gather along axis {axis}", [("values", kind)]),
    )
    longest = max(lengths)
    rows: list[jax.Array] = []
    for part, device in zip(brought, topology.local_devices, strict=True):
        missing = [(0, 0)] * part.ndim
        missing[axis] = (0, longest - part.shape[axis])
        rows.append(host.row(jnp.pad(host.placed(part, device), missing)))
    shape = (topology.num_replicas, *rows[0].shape[1:])
    stacked = jax.make_array_from_single_device_arrays(shape, topology.stacked, rows)
    program = _gathering_program(tuple(lengths), axis, topology)
    whole, token = program(stacked)
    if topology.is_cpu:
        window.admit(token)
    return [shard.data for shard in whole.addressable_shards]


@functools.lru_cache(maxsize=256)
def _gathering_program(
    lengths: tuple[int, ...], axis: int, topology: Topology
) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    def gathered(stacked: jax.Array) -> tuple[jax.Array, jax.Array]:
        rows = lax.with_sharding_constraint(stacked, topology.replicated)
        parts = [
            lax.slice_in_dim(rows[i], 0, length, axis=axis)
            for i, length in enumerate(lengths)
        ]
        return jnp.concatenate(parts, axis), jnp.zeros((), jnp.int32)

    return jax.jit(gathered, out_shardings=topology.replicated)


def lengths_of_all(
    mine: Sequence[int], topology: Topology, what: str | None = None
) -> list[int]:
    """The lengths that all replicas have, from those of this process."""
    if topology.agreement is None:
        return list(mine)
    what = what or written("comparing the lengths of all_gather")
    told = topology.agreement.exchange(what, json.dumps(list(mine)))
    return [length for text in told for length in json.loads(text)]


def are_same(brought: Sequence[Any], topology: Topology) -> bool:
    """Whether all replicas have brought an equal number."""
    here = all(other == brought[0] for other in brought)
    if topology.agreement is None:
        return here
    mine = repr(brought[0]) if here else ""
    told = topology.agreement.exchange(written("comparing a number"), mine)
    return here and len(set(told)) == 1


def _kind(array: jax.Array) -> str:
    return f"{np.dtype(array.dtype).name}{list(array.shape)}"
