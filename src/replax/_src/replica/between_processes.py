"""Sums over the replicas of several CPU hosts, composed of exchanges between them.

XLA's all-reduce between CPU hosts waits for milliseconds more often than not; sending
the same bytes from process to process takes a tenth of that. Arrays are therefore laid
one after the other in one buffer for each dtype, exchanged, and taken out again.

How they are exchanged depends on the number of processes and of bytes:

- A power of two of them doubles: each swaps all it has with the one beside it, then
  with the one at distance two, four and so on. Two processes swap once.
- Others send small buffers to everybody.
- Many bytes go around a ring in parts; each part is summed by one process and then
  handed on.

In each of them the numbers are added up in one order everywhere, so that all replicas
end with the same bits. Several replicas of one process are summed first, also by
doubling; with many bytes they are left to XLA, whose all-reduce is as quick then.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from replax._src.topology.topology import REPLICA_AXIS
from replax._src.topology.wiring import Wiring

__all__ = ["sum_between_processes"]

# Buffers are padded to a multiple of this: XLA runs a program of a few numbers in a way
# that makes collectives wait for the scheduler.
_MULTIPLE = 1024
# The largest buffer that arrays are put into together.
_PACK_BYTES = 32 * 1024 * 1024
# From here on a ring of four or more processes, which sends fewer bytes, is quicker.
_RING_BYTES = 4 * 1024 * 1024
# As many bytes are sent to everybody; more go around the ring.
_DIRECT_BYTES = 2 * 1024 * 1024
# As many bytes are summed by doubling within a process; more are left to XLA.
_LOCAL_BYTES = 2 * 1024 * 1024

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
    length = buffer.size
    local = num_replicas // wiring.processes
    multiple = _MULTIPLE * wiring.processes
    buffer = jnp.pad(buffer, (0, math.ceil(length / multiple) * multiple - length))
    num_bytes = buffer.size * buffer.dtype.itemsize
    if local > 1 and num_bytes > _LOCAL_BYTES:
        return lax.psum(buffer, REPLICA_AXIS)[:length]
    buffer = _within_processes(buffer, local, num_replicas)
    total = _between_processes(buffer, wiring.processes, local, num_bytes)
    return lax.slice_in_dim(lax.optimization_barrier(total), 0, length)


def _within_processes(buffer: jax.Array, local: int, num_replicas: int) -> jax.Array:
    if local & (local - 1):
        groups = [list(range(i, i + local)) for i in range(0, num_replicas, local)]
        return lax.psum(buffer, REPLICA_AXIS, axis_index_groups=groups)
    for distance in _doubling(local):
        buffer = _swapped(buffer, [(i, i ^ distance) for i in range(num_replicas)])
    return buffer


def _between_processes(
    buffer: jax.Array, processes: int, local: int, num_bytes: int
) -> jax.Array:
    is_power = not processes & (processes - 1)
    if is_power and (processes == 2 or num_bytes <= _RING_BYTES):
        for distance in _doubling(processes):
            partners = [i ^ distance for i in range(processes)]
            buffer = _swapped(buffer, _of_replicas(partners, local))
        return buffer
    if num_bytes * (processes - 1) <= _DIRECT_BYTES:
        return _from_everybody(buffer, processes, local)
    return _around(buffer, processes, local)


def _doubling(count: int) -> list[int]:
    """The distances 1, 2, 4 and so on below a power of two."""
    return [1 << i for i in range(count.bit_length() - 1)]


def _of_replicas(partners: Sequence[int], local: int) -> Permutation:
    """Who sends to whom: each replica to the one at its place in another process."""
    return [
        (process * local + i, partner * local + i)
        for process, partner in enumerate(partners)
        for i in range(local)
    ]


def _sent(buffer: jax.Array, permutation: Permutation) -> jax.Array:
    # Without the barrier XLA computes a buffer anew for each of its uses.
    buffer = lax.optimization_barrier(buffer)
    return lax.ppermute(buffer, REPLICA_AXIS, permutation)


def _swapped(buffer: jax.Array, permutation: Permutation) -> jax.Array:
    buffer = lax.optimization_barrier(buffer)
    return buffer + _sent(buffer, permutation)


def _onward(processes: int, local: int, steps: int) -> Permutation:
    return _of_replicas([(i + steps) % processes for i in range(processes)], local)


def _from_everybody(buffer: jax.Array, processes: int, local: int) -> jax.Array:
    buffer = lax.optimization_barrier(buffer)
    # What this process has, and what the one has that many places before it.
    held = [buffer]
    held += [
        _sent(buffer, _onward(processes, local, steps)) for steps in range(1, processes)
    ]

    def in_order(me: int) -> Callable[..., jax.Array]:
        def total(*held: jax.Array) -> jax.Array:
            ordered = [held[(me - i) % processes] for i in range(processes)]
            return functools.reduce(jnp.add, ordered)

        return total

    me = lax.axis_index(REPLICA_AXIS) // local
    return lax.switch(me, [in_order(i) for i in range(processes)], *held)


def _around(buffer: jax.Array, processes: int, local: int) -> jax.Array:
    """The sum by two rounds of a ring: one adds the parts up, one hands them on."""
    onward = _onward(processes, local, 1)
    me = lax.axis_index(REPLICA_AXIS) // local
    parts = lax.optimization_barrier(buffer).reshape(processes, -1)

    def part(number: jax.Array) -> jax.Array:
        return lax.dynamic_index_in_dim(parts, number % processes, keepdims=False)

    held = part(me)
    for step in range(1, processes):
        held = _sent(held, onward) + part(me - step)
    # Now this process has the whole sum of the part after its own.
    total = jnp.zeros_like(parts)
    for step in range(processes):
        number = (me + 1 - step) % processes
        total = lax.dynamic_update_index_in_dim(total, held, number, 0)
        if step < processes - 1:
            held = _sent(held, onward)
    return total.reshape(-1)
