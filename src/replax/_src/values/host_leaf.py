"""What a compiled step sees of values that stay on the host."""

from __future__ import annotations

from typing import NoReturn

import jax

from replax._src.values.distributed import PerReplica
from replax._src.values.handle import Handle
from replax._src.values.operators import ArrayOperators

__all__ = ["HostLeaf"]


class HostLeaf(ArrayOperators, Handle):
    """An argument of strings or objects: it can be passed through, and nothing else.

    Args:
      value: The argument.
      where: Which argument it is, as it would be written.
    """

    __slots__ = ("value", "where")

    def __init__(self, value: PerReplica, where: str) -> None:
        self.value = value
        self.where = where

    def operand(self) -> NoReturn:
        """Refuses to take part in a computation."""
        first = self.value.values[0]
        msg = (
            f"argument {self.where} of the step holds {first!r} (a "
            f"{type(first).__name__}), which stays on the host: a compiled step can "
            f"pass it through and nothing else; turn it into numbers before the step, "
            f"or run the step outside of replax.function"
        )
        raise TypeError(msg)

    def __jax_array__(self) -> NoReturn:
        self.operand()

    def __repr__(self) -> str:
        return f"HostLeaf({self.where})"


def _refuse(leaf: HostLeaf) -> NoReturn:
    leaf.operand()


# JAX takes the arguments of its functions apart; of these it is told what they are.
jax.tree_util.register_pytree_node(HostLeaf, _refuse, lambda _, children: children)
