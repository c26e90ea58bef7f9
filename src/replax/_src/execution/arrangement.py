"""How many replicas have each of a ragged step's local shapes, and their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from replax._src.core.jax_compat import JaxprEqn
from replax._src.execution.equations import location, operation

__all__ = ["Arrangement", "shape_text"]

_MANY = 3


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """The shape classes of a step.

    Attributes:
      counts: How many replicas are of each class.
      names: How an error speaks of a replica of each class.
    """

    counts: tuple[int, ...]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, counts: Sequence[int], in_avals: Sequence[Sequence[Any]]
    ) -> Arrangement:
        """Names each class by those of its input shapes that tell it from the others.

        Args:
          counts: How many replicas are of each class.
          in_avals: The input types of each class.
        """
        ragged = [
            i
            for i, avals in enumerate(zip(*in_avals, strict=True))
            if len({aval.shape for aval in avals}) > 1
        ]
        names: list[str] = []
        for avals in in_avals:
            shapes = [shape_text(avals[i]) for i in ragged[:_MANY]]
            more = ", ..." if len(ragged) > _MANY else ""
            names.append(f"a replica with {', '.join(shapes) or 'no data'}{more}")
        return cls(tuple(counts), tuple(names))

    @property
    def num_replicas(self) -> int:
        """How many replicas run the step."""
        return sum(self.counts)

    def starts(self, sizes: Sequence[int], class_ids: jax.Array) -> jax.Array:
        """Where each replica's rows begin when all are laid one after the other.

        Args:
          sizes: The number of rows in each class.
          class_ids: The class of each replica.
        """
        rows = jnp.asarray(sizes, jnp.int32)[class_ids]
        return jnp.cumsum(rows) - rows

    def each(self, equations: Sequence[JaxprEqn | None]) -> str:
        """For an error: what each class does here, and where, one line a class."""
        lines: list[str] = []
        for name, eqn in zip(self.names, equations, strict=True):
            if eqn is None:
                lines.append(f"  {name} meets the others no more")
                continue
            operands = ", ".join(shape_text(atom.aval) for atom in eqn.invars)
            lines.append(f"  {name}: {operation(eqn)} of {operands} ({location(eqn)})")
        return "\n".join(lines)


def shape_text(aval: Any) -> str:
    """A type as NumPy people read it: ``float32[3,4]``."""
    sizes = ",".join(map(str, getattr(aval, "shape", ())))
    return f"{getattr(aval, 'dtype', aval)}[{sizes}]"
