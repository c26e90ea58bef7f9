"""Room for one value of each replica, whatever the shape it has there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["Shape", "Slot", "matched", "padded_shape"]

Shape = tuple[int, ...]


def padded_shape(shapes: Sequence[Shape]) -> Shape:
    """The smallest shape into which all of these fit."""
    return tuple(max(sizes) for sizes in zip(*shapes, strict=True))


@dataclasses.dataclass(frozen=True)
class Slot:
    """An array of one shape on every replica that holds arrays of several shapes.

    Attributes:
      shape: Its shape.
      dtype: Its dtype.
      is_flat: Whether values lie in it as one long row rather than as they are.
    """

    shape: Shape
    dtype: Any
    is_flat: bool = False

    @classmethod
    def around(cls, avals: Sequence[Any]) -> Slot:
        """The slot that holds values of one rank, each at its origin."""
        return cls(padded_shape([aval.shape for aval in avals]), avals[0].dtype)

    def zeros(self) -> jax.Array:
        """What a replica puts here that has nothing to put."""
        return lax.full(self.shape, 0, self.dtype)

    def filled(self, value: jax.Array) -> jax.Array:
        """The value with zeros behind it."""
        value = value.reshape(-1) if self.is_flat else jnp.asarray(value)
        if value.shape == self.shape:
            return value
        if jnp.issubdtype(self.dtype, jax.dtypes.extended):
            origin = (0,) * len(self.shape)
            return lax.dynamic_update_slice(self.zeros(), value, origin)
        missing = zip(self.shape, value.shape, strict=True)
        zero = jnp.zeros((), self.dtype)
        return lax.pad(value, zero, [(0, whole - part, 0) for whole, part in missing])

    def taken(self, held: jax.Array, shape: Shape) -> jax.Array:
        """The value of a known shape that :meth:`filled` put here."""
        if held.shape == shape:
            return held
        if self.is_flat:
            size = math.prod(shape)
            row = held if held.size == size else lax.slice(held, (0,), (size,))
            return row.reshape(shape)
        return lax.slice(held, (0,) * len(shape), shape)


def matched(avals: Sequence[Sequence[Any]]) -> tuple[list[Slot], list[list[int]]]:
    """Slots for the values that each shape class keeps.

    Steps traced from one function with different shapes keep the same values in the
    same order, so that the k-th of each class share a slot. Where they do not, values
    are laid out flat and paired by size, which bounds the memory by the largest
    class's all the same.

    Args:
      avals: For each class, what it keeps.

    Returns:
      The slots and, for each class, the slot of each of its values.
    """
    kinds = {tuple((a.dtype, len(a.shape)) for a in kept) for kept in avals}
    if len(kinds) == 1:
        slots = [_shared(values) for values in zip(*avals, strict=True)]
        return slots, [list(range(len(slots))) for _ in avals]
    slots = []
    places = [[0] * len(kept) for kept in avals]
    for dtype in dict.fromkeys(a.dtype for kept in avals for a in kept):
        ranked = [_largest_first(kept, dtype) for kept in avals]
        for rank in range(max(map(len, ranked))):
            here = [(c, r[rank]) for c, r in enumerate(ranked) if rank < len(r)]
            for c, i in here:
                places[c][i] = len(slots)
            slots.append(_flat([avals[c][i] for c, i in here]))
    return slots, places


def _largest_first(kept: Sequence[Any], dtype: Any) -> list[int]:
    own = [i for i, aval in enumerate(kept) if aval.dtype == dtype]
    return sorted(own, key=lambda i: -math.prod(kept[i].shape))


def _flat(avals: Sequence[Any]) -> Slot:
    size = max(math.prod(aval.shape) for aval in avals)
    return Slot((size,), avals[0].dtype, is_flat=True)


def _shared(avals: Sequence[Any]) -> Slot:
    """As padded as the values are, unless that takes more than the largest of them."""
    slot, flat = Slot.around(avals), _flat(avals)
    return flat if math.prod(slot.shape) > math.prod(flat.shape) else slot
