"""Equations of a traced step: where replicas meet in them, and how they are run."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import jax

from replax._src.core.jax_compat import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    eqn_location,
    source_info_util,
)
from replax._src.replica.collectives import COLLECTIVES
from replax._src.topology.topology import REPLICA_AXIS

__all__ = [
    "Atom",
    "as_recorded",
    "called_jaxpr",
    "closed",
    "evaluate",
    "is_collective",
    "location",
    "meets_inside",
    "needs_mesh",
    "operation",
    "sub_jaxprs",
    "type_of",
    "variables",
]

Atom = Var | Literal

# Calls whose body may stand in their place, and the parameter that holds it. (A
# custom gradient has been applied by the time a whole step has been traced.)
_CALLS: Mapping[str, str] = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}


def type_of(atom: Atom) -> Any:
    """The type of an operand: for all that a step computes with, an array's."""
    return atom.aval


def variables(atoms: Iterable[Atom]) -> set[Var]:
    """The variables among some operands."""
    return {atom for atom in atoms if not isinstance(atom, Literal)}


def closed(jaxpr: Any) -> ClosedJaxpr:
    """A closed jaxpr, whichever kind a parameter holds."""
    return jaxpr if isinstance(jaxpr, ClosedJaxpr) else ClosedJaxpr(jaxpr, ())


def called_jaxpr(eqn: JaxprEqn) -> ClosedJaxpr | None:
    """The body of a call that does nothing but run its body once, else None."""
    name = _CALLS.get(eqn.primitive.name)
    return closed(eqn.params[name]) if name in eqn.params else None


def sub_jaxprs(eqn: JaxprEqn) -> list[ClosedJaxpr]:
    """The programs that an equation's parameters hold."""
    found: list[ClosedJaxpr] = []
    for value in eqn.params.values():
        values: Iterable[Any] = value if isinstance(value, tuple | list) else (value,)
        found += [closed(v) for v in values if isinstance(v, ClosedJaxpr | Jaxpr)]
    return found


def is_collective(eqn: JaxprEqn) -> bool:
    """Whether all replicas must run this equation together.

    True for the operations of a replica context and for ``jax.lax`` collectives over
    the replica axis.
    """
    if eqn.primitive in COLLECTIVES:
        return True
    return eqn.primitive.name != "axis_index" and _names_replicas(eqn)


def _names_replicas(eqn: JaxprEqn) -> bool:
    axes = eqn.params.get("axes", eqn.params.get("axis_name"))
    return axes == REPLICA_AXIS or (isinstance(axes, tuple) and REPLICA_AXIS in axes)


def needs_mesh(jaxpr: Jaxpr) -> bool:
    """Whether a program has operations of ``jax.lax`` over the replica axis."""
    return any(
        _names_replicas(eqn)
        or any(needs_mesh(inner.jaxpr) for inner in sub_jaxprs(eqn))
        for eqn in jaxpr.eqns
    )


def meets_inside(eqn: JaxprEqn) -> bool:
    """Whether an equation holds programs in which replicas meet."""
    return any(
        is_collective(inner) or meets_inside(inner)
        for jaxpr in sub_jaxprs(eqn)
        for inner in jaxpr.eqns
    )


def operation(eqn: JaxprEqn) -> str:
    """What a user calls the operation of an equation."""
    name = eqn.primitive.name
    return name.removeprefix("replica_") if eqn.primitive in COLLECTIVES else name


def location(eqn: JaxprEqn) -> str:
    """Where the user's code recorded an equation."""
    return eqn_location(eqn) or "an unknown place"


@contextlib.contextmanager
def as_recorded(eqn: JaxprEqn) -> Generator[None]:
    """The settings and the place in user code under which ``eqn`` was recorded."""
    here = jax.sharding.get_abstract_mesh()
    names = source_info_util.current_name_stack() + eqn.source_info.name_stack
    with contextlib.ExitStack() as stack:
        stack.enter_context(
            source_info_util.user_context(eqn.source_info.traceback, name_stack=names)
        )
        stack.enter_context(eqn.ctx.manager)
        if eqn.ctx.cur_abstract_mesh.empty and not here.empty:
            # Steps are traced outside `shard_map`, where no mesh is set yet.
            stack.enter_context(jax.sharding.use_abstract_mesh(here))
        yield


def evaluate(
    equations: Sequence[JaxprEqn], env: dict[Var, Any], outputs: Sequence[Atom]
) -> list[Any]:
    """Runs equations one after the other; ``env`` maps variables to values."""

    def read(atom: Atom) -> Any:
        return atom.val if isinstance(atom, Literal) else env[atom]

    for eqn in equations:
        params = eqn.primitive.get_bind_params(eqn.params)
        with as_recorded(eqn):
            result = eqn.primitive.bind(*map(read, eqn.invars), **params)
        results = result if eqn.primitive.multiple_results else [result]
        env.update(zip(eqn.outvars, results, strict=True))
    return [read(atom) for atom in outputs]
