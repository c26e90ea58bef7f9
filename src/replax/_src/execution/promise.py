"""What a program promises to do together with other processes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import jax
import jax.core

from replax._src.cluster.agreement import written
from replax._src.core.jax_compat import ClosedJaxpr, Jaxpr
from replax._src.execution.arrangement import shape_text
from replax._src.execution.body import PerReplicaArgument
from replax._src.execution.equations import is_collective, sub_jaxprs

__all__ = ["promise_of"]


def promise_of(name: str, described: Sequence[Any], traced: ClosedJaxpr) -> str:
    """A program's arguments and collectives, as text that processes can compare.

    Args:
      name: What the function is called.
      described: The leaves of its arguments, types in place of arrays.
      traced: The program.
    """
    leaves = [
        (f"argument {i}", _kind(leaf))
        for i, leaf in enumerate(described)
        if isinstance(leaf, (PerReplicaArgument, jax.core.ShapedArray))
    ]
    for primitive, operands in _collectives(traced.jaxpr):
        what = primitive.removeprefix("replica_")
        leaves.append((what, ", ".join(shape_text(x) for x in operands)))
    return written(f"running {name}", leaves)


def _kind(leaf: Any) -> str:
    if not isinstance(leaf, PerReplicaArgument):
        return shape_text(leaf)
    dtype = leaf.aval.dtype
    parts = [shape_text(jax.ShapeDtypeStruct(shape, dtype)) for shape in leaf.shapes]
    return " | ".join(dict.fromkeys(parts))


def _collectives(jaxpr: Jaxpr) -> Generator[tuple[str, list[Any]]]:
    for eqn in jaxpr.eqns:
        if is_collective(eqn):
            yield eqn.primitive.name, [atom.aval for atom in eqn.invars]
        for inner in sub_jaxprs(eqn):
            yield from _collectives(inner.jaxpr)
