"""Which equations of a step are the same for replicas of all local shapes.

Much of a step does not depend on how many rows a replica has: what follows the
all-reduced gradients, above all the update of the weights. Such equations need not be
compiled once for each shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from replax._src.core.jax_compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from replax._src.execution.equations import Atom

__all__ = ["content_key", "same_literal", "same_operation", "same_params"]

# What a custom gradient is made of; a step that has been traced has applied it, and
# runs the body. (Each trace makes these functions anew.)
_RULES = {
    "custom_jvp_call": frozenset({"jvp_jaxpr_fun"}),
    "custom_vjp_call": frozenset({"bwd", "fwd_jaxpr_thunk", "out_trees"}),
}
_NO_RULES = frozenset[str]()

# Larger constants are compared by identity: looking through them takes time.
_LARGEST = 1 << 20


def same_operation(one: JaxprEqn, other: JaxprEqn) -> bool:
    """Whether two equations do the same, given the same operands."""
    return (
        one.primitive is other.primitive
        and one.ctx is other.ctx
        and not one.effects
        and not other.effects
        and _same(_body(one), _body(other))
        and len(one.outvars) == len(other.outvars)
        and all(
            a.aval == b.aval for a, b in zip(one.outvars, other.outvars, strict=True)
        )
    )


def _body(eqn: JaxprEqn) -> Mapping[str, Any]:
    rules = _RULES.get(eqn.primitive.name, _NO_RULES)
    if not rules:
        return eqn.params
    return {name: value for name, value in eqn.params.items() if name not in rules}


def content_key(constant: Any) -> Any:
    """What a constant is known by in another trace: itself, or what it holds.

    An array of NumPy comes into a trace in a wrapping of JAX's, which is another one in
    each trace.
    """
    wrapped = isinstance(constant, np.ndarray) and type(constant) is not np.ndarray
    if not wrapped or constant.size > _LARGEST:
        return id(constant)
    kind = (constant.dtype.str, constant.shape, getattr(constant, "weak_type", False))
    return (*kind, constant.tobytes())


def same_params(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two equations have the same parameters."""
    return _same(one, other)


def same_literal(one: Literal, other: Literal) -> bool:
    """Whether two literals are the same number of the same type."""
    if one.val is other.val:
        return True
    # By their bits: NaN is the same number as NaN.
    values = [np.asarray(literal.val) for literal in (one, other)]
    return one.aval == other.aval and values[0].tobytes() == values[1].tobytes()


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, ClosedJaxpr):
        constants = zip(one.consts, other.consts, strict=False)
        return _same_jaxpr(one.jaxpr, other.jaxpr) and all(
            content_key(a) == content_key(b) for a, b in constants
        )
    if isinstance(one, Jaxpr):
        return _same_jaxpr(one, other)
    if isinstance(one, Mapping):
        pairs: Mapping[Any, Any] = one
        return pairs.keys() == other.keys() and all(
            _same(value, other[key]) for key, value in pairs.items()
        )
    if isinstance(one, tuple | list):
        return _same_items(one, other)
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # Arrays, for one, have no single answer.
        return False


def _same_items(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(
        _same(a, b) for a, b in zip(one, other, strict=True)
    )


def _same_jaxpr(one: Jaxpr, other: Jaxpr) -> bool:
    counts = [
        (len(j.constvars), len(j.invars), len(j.eqns), len(j.outvars))
        for j in (one, other)
    ]
    if counts[0] != counts[1]:
        return False
    twin: dict[Var, Var] = {}

    def bind(ours: Sequence[Var], theirs: Sequence[Var]) -> bool:
        twin.update(zip(ours, theirs, strict=True))
        return all(a.aval == b.aval for a, b in zip(ours, theirs, strict=True))

    def same_atoms(ours: Sequence[Atom], theirs: Sequence[Atom]) -> bool:
        return len(ours) == len(theirs) and all(
            same_literal(a, b)
            if isinstance(a, Literal) and isinstance(b, Literal)
            else isinstance(a, Var) and twin.get(a) is b
            for a, b in zip(ours, theirs, strict=True)
        )

    return (
        bind(one.constvars, other.constvars)
        and bind(one.invars, other.invars)
        and all(
            same_operation(a, b)
            and same_atoms(a.invars, b.invars)
            and bind(a.outvars, b.outvars)
            for a, b in zip(one.eqns, other.eqns, strict=True)
        )
        and same_atoms(one.outvars, other.outvars)
    )
