"""Sums over the replicas of several CPU hosts, composed of exchanges between them.

XLA's all-reduce between CPU hosts passes parts around a ring. That is right for many
bytes. Fewer take less time when whole buffers are swapped: with the replica beside
one, then with that at distance two, four and so on, until all have all; or, where the
number of processes is no power of two, when everybody sends to everybody. Small arrays
are laid one after the other for that, in one buffer for each dtype.

The numbers are added up in one order everywhere, so that all replicas end with the same
bits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

from replax._src.topology.topology import REPLICA_AXIS
from replax._src.topology.wiring import Wiring

__all__ = ["sum_between_processes"]

# Buffers are padded to a multiple of this: the collectives of programs of a few numbers
# were seen to take 4 ms instead of 0.1.
_MULTIPLE = 1024
# Up to how many bytes swapping is quicker than XLA's ring, which sends everything
# twice at most, however many processes there are.
_SWAPPED_BYTES = 2 * 1024 * 1024
# The same for sending to everybody.
_SENT_BYTES = 1024 * 1024

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
    results = list(operands)
    for positions in _packs(operands, wiring.bytes_per_pack or _SWAPPED_BYTES):
        arrays = [operands[i] for i in positions]
        total = _total(_packed(arrays), wiring.processes, num_replicas)
        begin = 0
        for i, array in zip(positions, arrays, strict=True):
            part = lax.slice_in_dim(total, begin, begin + array.size)
            results[i] = part.reshape(array.shape)
            begin += array.size
    return results


def _packs(operands: Sequence[jax.Array], most: int) -> list[list[int]]:
    """Which arrays go together: those of one dtype, up to so many bytes."""
    packs: list[list[int]] = []
    last: dict[object, tuple[list[int], int]] = {}
    for i, operand in enumerate(operands):
        own = operand.size * operand.dtype.itemsize
        pack, size = last.get(operand.dtype, ([], 0))
        if not pack or size + own > most:
            pack, size = [], 0
            packs.append(pack)
        pack.append(i)
        last[operand.dtype] = (pack, size + own)
    return packs


def _packed(arrays: Sequence[jax.Array]) -> jax.Array:
    """The arrays one after the other, padded."""
    size = sum(array.size for array in arrays)
    padded = max(1, -(-size // _MULTIPLE)) * _MULTIPLE
    if len(arrays) == 1 and size == padded:
        return arrays[0].reshape(-1)
    # Written into a buffer: XLA asks for each element of a concatenation which array
    # it is of.
    buffer = jnp.zeros(padded, arrays[0].dtype)
    begin = 0
    for array in arrays:
        buffer = lax.dynamic_update_slice(buffer, array.reshape(-1), (begin,))
        begin += array.size
    return buffer


def _total(buffer: jax.Array, processes: int, num_replicas: int) -> jax.Array:
    """The sum of a buffer."""
    num_bytes = buffer.size * buffer.dtype.itemsize
    if not num_replicas & (num_replicas - 1):
        rounds = num_replicas.bit_length() - 1
        if num_bytes * rounds <= _SWAPPED_BYTES:
            return _swapped(buffer, rounds)
    elif num_replicas == processes and num_bytes * (processes - 1) <= _SENT_BYTES:
        return _sent_to_everybody(buffer, processes)
    return lax.psum(lax.optimization_barrier(buffer), REPLICA_AXIS)


def _swapped(buffer: jax.Array, rounds: int) -> jax.Array:
    """By swapping, within the process first: replicas of one stand side by side."""
    for distance in (1 << i for i in range(rounds)):
        pairs = [(i, i ^ distance) for i in range(1 << rounds)]
        # Without the barriers XLA computes a buffer anew for each of its uses.
        buffer = lax.optimization_barrier(buffer)
        buffer = buffer + lax.ppermute(buffer, REPLICA_AXIS, pairs)
    return lax.optimization_barrier(buffer)


def _sent_to_everybody(buffer: jax.Array, count: int) -> jax.Array:
    buffer = lax.optimization_barrier(buffer)
    # What this replica has, and what the one has that many places before it.
    held = [buffer]
    for steps in range(1, count):
        onward: Permutation = [(i, (i + steps) % count) for i in range(count)]
        held.append(lax.ppermute(buffer, REPLICA_AXIS, onward))

    def in_order(me: int) -> Callable[..., jax.Array]:
        def total(*held: jax.Array) -> jax.Array:
            ordered = [held[(me - i) % count] for i in range(count)]
            return functools.reduce(jnp.add, ordered)

        return total

    me = lax.axis_index(REPLICA_AXIS)
    return lax.switch(me, [in_order(i) for i in range(count)], *held)
