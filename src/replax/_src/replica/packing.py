"""Sending small arrays together.

XLA on CPU spends some 20 us on each operand of an all-reduce, whatever its size. Arrays
of up to 16,384 elements are therefore put into one buffer for each dtype, and taken out
of it again: a step with 100 small variables takes half of the time. Larger ones go as
they are, for copying them would cost more than it saves.
"""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["LARGEST_PACKED", "packed"]

LARGEST_PACKED = 16_384

Operation = Callable[[list[jax.Array]], Sequence[jax.Array]]


def packed(operation: Operation, operands: Sequence[jax.Array]) -> list[jax.Array]:
    """Applies an elementwise collective to arrays, with the small ones together.

    Args:
      operation: Takes a list of arrays and gives one of the same shapes.
      operands: The arrays.
    """
    groups: dict[object, list[int]] = collections.defaultdict(list)
    for position, operand in enumerate(operands):
        if math.prod(operand.shape) <= LARGEST_PACKED:
            groups[operand.dtype].append(position)
    packs = [positions for positions in groups.values() if len(positions) > 1]
    together = {position for positions in packs for position in positions}
    alone = [i for i in range(len(operands)) if i not in together]
    flat = [
        jnp.concatenate([operands[i].reshape(-1) for i in positions])
        for positions in packs
    ]
    results = list(operation(flat + [operands[i] for i in alone]))
    found: dict[int, jax.Array] = dict(zip(alone, results[len(packs) :], strict=True))
    for positions, buffer in zip(packs, results[: len(packs)], strict=True):
        begin = 0
        for i in positions:
            size = math.prod(operands[i].shape)
            part = lax.slice_in_dim(buffer, begin, begin + size)
            found[i] = part.reshape(operands[i].shape)
            begin += size
    return [found[i] for i in range(len(operands))]
