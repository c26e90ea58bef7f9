"""What happens between replicas, as single equations in the trace of a program.

``run``, ``reduce`` and ``gather`` inside a function that is being traced are recorded
as one equation each. The trace of the function's own body is thus free of the replicas'
shapes: a step with other local shapes replays the recorded body, and traces only the
functions given to ``run`` again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import jax
import jax.numpy as jnp

from replax._src.core import jax_compat
from replax._src.core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Primitive
from replax._src.values.distributed import Spread

__all__ = [
    "BodyChangedError",
    "Classes",
    "Grouping",
    "Operation",
    "UngroupedError",
    "opaque_p",
    "replay",
]

opaque_p = Primitive("replax_between_replicas")
opaque_p.multiple_results = True
opaque_p.def_abstract_eval(lambda *operands, operation, avals: list(avals))


Shape = tuple[int, ...]


class BodyChangedError(Exception):
    """The recorded body does not hold for these shapes; it must be traced again."""


class UngroupedError(Exception):
    """A per-replica value turned up whose shapes the program does not know of."""


@dataclasses.dataclass(frozen=True)
class Grouping:
    """Which replicas have the same shapes.

    Attributes:
      ids: The class of each replica.
      counts: How many replicas are of each class.
    """

    ids: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, keys: Sequence[Any]) -> Grouping:
        """Groups replicas with equal keys.

        Classes are in the order of their keys, so that the same set of shapes gives the
        same program, whichever replica has which.
        """
        order = {key: i for i, key in enumerate(sorted(set(keys), reverse=True))}
        ids = tuple(order[key] for key in keys)
        return cls(ids, tuple(ids.count(i) for i in range(len(order))))

    @property
    def is_uniform(self) -> bool:
        """Whether all replicas have the same shapes."""
        return len(self.counts) == 1

    def by_class(self, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        """One shape for each class, from one for each replica."""
        if self.is_uniform and len(set(shapes)) == 1:
            return (shapes[0],)
        if len(self.ids) != len(shapes):
            raise UngroupedError
        found = tuple(shapes[self.ids.index(i)] for i in range(len(self.counts)))
        if any(found[i] != shape for i, shape in zip(self.ids, shapes, strict=True)):
            raise UngroupedError
        return found


@dataclasses.dataclass(frozen=True)
class Classes:
    """The shape classes of a program that is being built.

    Attributes:
      counts: How many replicas are of each class.
      ids: The class of each replica, an input of the program; None if all are alike.
    """

    counts: tuple[int, ...]
    ids: jax.Array | None = None

    @property
    def is_uniform(self) -> bool:
        """Whether all replicas have the same shapes."""
        return len(self.counts) == 1


class Operation(Protocol):
    """One thing that happens between replicas."""

    def replay(self, classes: Classes, operands: Sequence[Any]) -> list[Any]:
        """Records it in the program that is being built.

        Args:
          classes: The shape classes of the program.
          operands: Arrays, and a Spread for each per-replica value.

        Returns:
          Arrays and Spreads.
        """
        ...


def replay(closed: ClosedJaxpr, classes: Classes, inputs: Sequence[Any]) -> list[Any]:
    """Evaluates a recorded body for the shapes that its inputs have now."""
    jaxpr: Jaxpr = closed.jaxpr
    env: dict[Any, Any] = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    env.update(zip(jaxpr.invars, inputs, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else env[atom]

    for eqn in jaxpr.eqns:
        operands = [read(atom) for atom in eqn.invars]
        if eqn.primitive is opaque_p:
            results = eqn.params["operation"].replay(classes, operands)
        else:
            results = _evaluate(eqn, [_plain(x) for x in operands])
        env.update(zip(eqn.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _plain(value: Any) -> Any:
    if isinstance(value, Spread):
        if not value.is_uniform:
            raise BodyChangedError
        return value.stacked
    return value


def _evaluate(eqn: JaxprEqn, operands: list[Any]) -> Any:
    for atom, value in zip(eqn.invars, operands, strict=True):
        if jnp.shape(value) != _shape_of(atom):
            raise BodyChangedError
    results = jax_compat.bind_eqn(eqn, operands)
    return results if eqn.primitive.multiple_results else [results]


def _shape_of(atom: Any) -> Shape:
    return tuple(atom.aval.shape)
