"""Sums over the replicas of several CPU hosts, composed of exchanges between them.

XLA's all-reduce between CPU hosts takes milliseconds for what fits in a cache; sending
the same bytes from process to process takes a tenth of that. Arrays are therefore laid
one after the other in one buffer for each dtype, summed in each process, exchanged, and
taken out again. Two processes send each other all they have; more of them pass parts
around a ring, in which each part is summed by one process and then handed on, so that
all processes have the same bits.

Small buffers stay with XLA's all-reduce, which is the quickest for a few numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax

from replax._src.topology.topology import REPLICA_AXIS
from replax._src.topology.wiring import Wiring

__all__ = ["sum_between_processes"]

# Buffers are padded to a multiple of this: others are copied element by element.
_MULTIPLE = 1024
# Up to this many bytes XLA's own all-reduce is quicker.
_SMALL_BYTES = 1024
# The largest buffer that arrays are put into together.
_PACK_BYTES = 32 * 1024 * 1024

Permutation = list[tuple[int, int]]


def sum_between_processes(
    operands: Sequence[jax.Array], wiring: Wiring, num_replicas: int
) -> list[jax.Array]:
    """The sums of arrays over all replicas, inside of ``shard_map``.

    Args:
      operands: What this replica has.
      wiring: Which replicas are of which process.
      num_replicas: How many replicas there are.
    """
    results: list[jax.Array | None] = [None] * len(operands)
    for positions in _packs(operands, wiring.bytes_per_pack or _PACK_BYTES):
        flat = [operands[i].reshape(-1) for i in positions]
        total = _total(jnp.concatenate(flat), wiring, num_replicas)
        begin = 0
        for i in positions:
            size = operands[i].size
            part = lax.slice_in_dim(total, begin, begin + size)
            results[i] = part.reshape(operands[i].shape)
            begin += size
    return [x for x in results if x is not None]


def _packs(operands: Sequence[jax.Array], most: int) -> list[list[int]]:
    """Which arrays go together: neighbours of one dtype, up to so many bytes."""
    packs: list[list[int]] = []
    last: dict[object, tuple[list[int], int]] = {}
    for i, operand in enumerate(operands):
        pack, size = last.get(operand.dtype, ([], 0))
        size += operand.size * operand.dtype.itemsize
        if not pack or size > most:
            pack, size = [], operand.size * operand.dtype.itemsize
            packs.append(pack)
        pack.append(i)
        last[operand.dtype] = (pack, size)
    return packs


def _total(buffer: jax.Array, wiring: Wiring, num_replicas: int) -> jax.Array:
    if buffer.size * buffer.dtype.itemsize <= _SMALL_BYTES:
        return lax.psum(buffer, REPLICA_AXIS)
    length = buffer.size
    parts = 1 if wiring.processes == 2 else wiring.processes
    multiple = _MULTIPLE * parts
    buffer = jnp.pad(buffer, (0, math.ceil(length / multiple) * multiple - length))
    # Without it XLA computes the elements of the buffer anew for each of its uses.
    buffer = lax.optimization_barrier(buffer)
    local = num_replicas // wiring.processes
    if local > 1:
        groups = [
            list(range(i, i + local)) for i in range(0, num_replicas, local)
        ]
        buffer = lax.psum(buffer, REPLICA_AXIS, axis_index_groups=groups)
    # Each replica sends to the one at its place in the next process.
    onward = [(i, (i + local) % num_replicas) for i in range(num_replicas)]
    if wiring.processes == 2:
        total = buffer + lax.ppermute(buffer, REPLICA_AXIS, onward)
    else:
        total = _around(buffer, wiring.processes, local, onward)
    return lax.slice_in_dim(lax.optimization_barrier(total), 0, length)


def _around(
    buffer: jax.Array, processes: int, local: int, onward: Permutation
) -> jax.Array:
    """The sum by two rounds of a ring: one adds the parts up, one hands them on."""
    send = functools.partial(lax.ppermute, axis_name=REPLICA_AXIS, perm=onward)
    me = lax.axis_index(REPLICA_AXIS) // local
    parts = buffer.reshape(processes, -1)

    def part(number: jax.Array) -> jax.Array:
        return lax.dynamic_index_in_dim(parts, number % processes, keepdims=False)

    held = part(me)
    for step in range(1, processes):
        held = send(held) + part(me - step)
    # Now this process has the whole sum of the part after its own.
    total = jnp.zeros_like(parts)
    for step in range(processes):
        number = (me + 1 - step) % processes
        total = lax.dynamic_update_index_in_dim(total, held, number, 0)
        if step < processes - 1:
            held = send(held)
    return total.reshape(-1)
