"""What to hand on from one segment of a ragged step to the next, and what to remake.

Outside the branches of a ``lax.switch`` XLA can no longer fuse what makes a value into
what reads it, so that each value handed on takes memory of its own. What is cheap to
make from values that are there anyway is made again where it is read, which XLA fuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from replax._src.core.jax_compat import JaxprEqn, Var
from replax._src.execution.equations import variables

__all__ = ["is_layout", "kept_and_remade", "needed"]

# Operations that only lay out what they are given in another way.
_LAYOUT = frozenset(
    {
        "broadcast_in_dim",
        "copy",
        "expand_dims",
        "iota",
        "reshape",
        "slice",
        "squeeze",
        "transpose",
    }
)

# Arithmetic that costs less than reading a stored result, unless chains get long.
_ARITHMETIC = frozenset(
    {
        "abs",
        "add",
        "add_any",
        "and",
        "convert_element_type",
        "eq",
        "ge",
        "gt",
        "le",
        "lt",
        "max",
        "min",
        "mul",
        "ne",
        "neg",
        "not",
        "or",
        "select_n",
        "sign",
        "square",
        "sub",
    }
)
_LONGEST_CHAIN = 8


def is_layout(eqn: JaxprEqn) -> bool:
    """Whether an equation does no arithmetic."""
    return eqn.primitive.name in _LAYOUT


def kept_and_remade(
    equations: Sequence[JaxprEqn],
    available: AbstractSet[Var],
    read_after: AbstractSet[Var],
) -> tuple[list[Var], list[JaxprEqn]]:
    """Decides what of a segment is kept for later ones.

    Args:
      equations: Those of the segment.
      available: The variables that later segments find without this one.
      read_after: The variables that they read.

    Returns:
      The variables to keep, and the equations to run again where they are read.
    """
    kept: list[Var] = []
    remade: list[JaxprEqn] = []
    # How much arithmetic each variable that later segments can have would cost them.
    costs: dict[Var, int] = dict.fromkeys(available, 0)
    for eqn in equations:
        if costs.keys() >= set(eqn.outvars):
            continue
        cost = _cost(eqn, costs)
        if cost is not None:
            remade.append(eqn)
            costs.update(dict.fromkeys(eqn.outvars, cost))
            continue
        lasting = [v for v in eqn.outvars if v in read_after and v not in costs]
        kept += lasting
        costs.update(dict.fromkeys(lasting, 0))
    return kept, needed(remade, read_after)


def _cost(eqn: JaxprEqn, costs: dict[Var, int]) -> int | None:
    """The length of the chain of arithmetic that remakes an equation's result."""
    if eqn.effects or not variables(eqn.invars) <= costs.keys():
        return None
    before = max((costs[var] for var in variables(eqn.invars)), default=0)
    if is_layout(eqn):
        return before
    if eqn.primitive.name in _ARITHMETIC and before < _LONGEST_CHAIN:
        return before + 1
    return None


def needed(equations: Sequence[JaxprEqn], wanted: AbstractSet[Var]) -> list[JaxprEqn]:
    """Those equations that lead to the wanted variables, or act on the outside."""
    live = set(wanted)
    kept: list[JaxprEqn] = []
    for eqn in reversed(equations):
        if eqn.effects or not live.isdisjoint(eqn.outvars):
            kept.append(eqn)
            live |= variables(eqn.invars)
    return kept[::-1]
