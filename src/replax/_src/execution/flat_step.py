"""A traced step rewritten so that every collective stands at its top level."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jax.interpreters import partial_eval

from replax._src.core.jax_compat import ClosedJaxpr, DropVar, JaxprEqn, Literal, Var
from replax._src.execution.equations import (
    Atom,
    called_jaxpr,
    is_collective,
    meets_inside,
)

__all__ = ["FlatStep"]


@dataclasses.dataclass(frozen=True)
class FlatStep:
    """A step as a list of equations.

    Attributes:
      inputs: The variables that stand for the step's inputs.
      outputs: What the step returns.
      segments: The equations before, between and after the meetings.
      meetings: The equations that all replicas run together: collectives, and loops
        and branches that hold collectives. One fewer than segments.
      constants: Values of the variables that are constants.
    """

    inputs: tuple[Var, ...]
    outputs: tuple[Atom, ...]
    segments: tuple[tuple[JaxprEqn, ...], ...]
    meetings: tuple[JaxprEqn, ...]
    constants: dict[Var, Any]

    @classmethod
    def of(cls, step: ClosedJaxpr, *, keep_collectives: bool) -> FlatStep:
        """Flattens a step and drops what nothing needs.

        Args:
          step: The traced step.
          keep_collectives: Keep collectives whose results are not used.
        """
        inlined = _Inlined(step)
        equations = _needed(step, inlined, keep_collectives=keep_collectives)
        segments: list[tuple[JaxprEqn, ...]] = []
        meetings: list[JaxprEqn] = []
        current: list[JaxprEqn] = []
        for eqn in equations:
            if is_collective(eqn) or meets_inside(eqn):
                segments.append(tuple(current))
                meetings.append(eqn)
                current = []
            else:
                current.append(eqn)
        segments.append(tuple(current))
        return cls(
            tuple(step.jaxpr.invars),
            tuple(inlined.outputs),
            tuple(segments),
            tuple(meetings),
            inlined.constants,
        )


class _Inlined:
    """The equations of a step with calls that hold collectives replaced by bodies."""

    def __init__(self, step: ClosedJaxpr) -> None:
        self.equations: list[JaxprEqn] = []
        self.constants: dict[Var, Any] = dict(
            zip(step.jaxpr.constvars, step.consts, strict=True)
        )
        self.outputs: list[Atom] = self._add(step, {}, outermost=True)

    def _add(
        self, body: ClosedJaxpr, names: dict[Var, Atom], *, outermost: bool
    ) -> list[Atom]:
        """Appends a body's equations; ``names`` renames what it defines.

        One body may be called many times, and JAX uses the same variables for it
        each time, so that all but the outermost have to be renamed.
        """

        def renamed(atom: Atom) -> Atom:
            return atom if isinstance(atom, Literal) else names.get(atom, atom)

        for eqn in body.jaxpr.eqns:
            operands = [renamed(atom) for atom in eqn.invars]
            call = called_jaxpr(eqn) if meets_inside(eqn) else None
            if call is not None:
                results = self._call(call, operands)
                names.update(zip(eqn.outvars, results, strict=True))
                continue
            outvars = [
                v if outermost and not isinstance(v, DropVar) else Var(v.aval)
                for v in eqn.outvars
            ]
            names.update(zip(eqn.outvars, outvars, strict=True))
            self.equations.append(eqn.replace(invars=operands, outvars=outvars))
        return [renamed(atom) for atom in body.jaxpr.outvars]

    def _call(self, body: ClosedJaxpr, operands: Sequence[Atom]) -> list[Atom]:
        names: dict[Var, Atom] = dict(zip(body.jaxpr.invars, operands, strict=True))
        for var, value in zip(body.jaxpr.constvars, body.consts, strict=True):
            constant = Var(var.aval)
            self.constants[constant] = value
            names[var] = constant
        return self._add(body, names, outermost=False)


def _needed(
    step: ClosedJaxpr, inlined: _Inlined, *, keep_collectives: bool
) -> list[JaxprEqn]:
    outputs = list(inlined.outputs)
    if keep_collectives:
        outputs += [
            var
            for eqn in inlined.equations
            if is_collective(eqn) or meets_inside(eqn)
            for var in eqn.outvars
        ]
    effects = set[Any]().union(*(eqn.effects for eqn in inlined.equations))
    whole = step.jaxpr.replace(
        constvars=[],
        invars=[*inlined.constants, *step.jaxpr.invars],
        outvars=outputs,
        eqns=inlined.equations,
        effects=effects,
    )
    kept, _ = partial_eval.dce_jaxpr(whole, [True] * len(outputs), instantiate=True)
    return list(kept.eqns)
