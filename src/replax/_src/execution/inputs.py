"""Inputs of a program that are found while it is traced.

A function that reads a variable does not say so beforehand. The read records an
``input`` equation in the trace; when the trace is done, these equations are turned into
inputs of the program, and so are the constants that the function closes over.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from replax._src.core.jax_compat import ClosedJaxpr, Primitive, Var
from replax._src.execution.sameness import content_key

__all__ = ["Lifted", "input_p", "lift", "lift_all"]

input_p = Primitive("replax_input")
input_p.multiple_results = True
input_p.def_abstract_eval(lambda *, source, avals: list(avals))


@dataclasses.dataclass(frozen=True, slots=True)
class Lifted:
    """Traces of one function, with everything they need as inputs.

    Attributes:
      traces: The jaxprs. The inputs of each are the arguments, the leaves of each
        source, and the constants, in this order; no constants are left.
      sources: What the traces found that they need.
      avals: The types of each source's leaves.
      constants: The values that the function closes over.
    """

    traces: tuple[ClosedJaxpr, ...]
    sources: tuple[Any, ...]
    avals: tuple[tuple[Any, ...], ...]
    constants: tuple[Any, ...]


def lift_all(traces: Sequence[ClosedJaxpr]) -> Lifted:
    """Turns what the traces need into inputs, the same ones for all of them."""
    sources: dict[int, tuple[Any, tuple[Any, ...]]] = {}
    constants: dict[Any, Any] = {}
    for closed in traces:
        for eqn in closed.jaxpr.eqns:
            if eqn.primitive is input_p:
                source = eqn.params["source"]
                sources.setdefault(id(source), (source, eqn.params["avals"]))
        for key, value in zip(_keys(closed), closed.consts, strict=True):
            constants.setdefault(key, value)
    needed = tuple(sources.values())
    return Lifted(
        tuple(_lifted(closed, needed, constants) for closed in traces),
        tuple(source for source, _ in needed),
        tuple(avals for _, avals in needed),
        tuple(constants.values()),
    )


def _keys(closed: ClosedJaxpr) -> list[Any]:
    """What the constants of a trace are known by; of equal ones each is one more."""
    met: collections.Counter[Any] = collections.Counter()
    keys: list[Any] = []
    for value in closed.consts:
        key = content_key(value)
        keys.append((key, met[key]))
        met[key] += 1
    return keys


def lift(closed: ClosedJaxpr) -> Lifted:
    """Turns what one trace needs into inputs."""
    return lift_all([closed])


def _lifted(
    closed: ClosedJaxpr,
    sources: Sequence[tuple[Any, tuple[Any, ...]]],
    constants: Mapping[Any, Any],
) -> ClosedJaxpr:
    jaxpr = closed.jaxpr
    found = {id(e.params["source"]): e for e in jaxpr.eqns if e.primitive is input_p}
    consts = dict(zip(_keys(closed), jaxpr.constvars, strict=True))
    invars = list(jaxpr.invars)
    for source, avals in sources:
        if id(source) in found:
            invars += found[id(source)].outvars
        else:
            invars += [Var(aval) for aval in avals]
    for key, value in constants.items():
        invars.append(consts.get(key) or Var(jax.typeof(value)))
    eqns = [eqn for eqn in jaxpr.eqns if eqn.primitive is not input_p]
    return ClosedJaxpr(jaxpr.replace(constvars=[], invars=invars, eqns=eqns), [])
