"""Which results of a step differ between its replicas.

What replicas are given differs, and so does all that is computed from it, until a
collective makes it common. A mirrored variable must be assigned something common.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from replax._src.core.jax_compat import ClosedJaxpr, JaxprEqn, Literal, Var
from replax._src.execution.equations import (
    Atom,
    called_jaxpr,
    closed,
    is_collective,
    location,
    meets_inside,
    operation,
    sub_jaxprs,
)
from replax._src.replica.collectives import (
    all_gather_p,
    all_reduce_p,
    reduce_scatter_p,
    replica_id_p,
)

__all__ = ["Source", "diverging_meeting", "varying_outputs", "varying_sources"]


@dataclasses.dataclass(frozen=True)
class Source:
    """Why a value differs between replicas: the first cause that was met.

    Attributes:
      input: The number of the step's input that it comes from, if it is one.
      operation: Else the operation that made it different.
      location: Else where the user's code called that operation.
    """

    input: int | None = None
    operation: str = ""
    location: str = ""


# Why a value varies; None if all replicas have it in common.
_Cause = Source | None

_OURS_COMMON = frozenset({all_reduce_p, all_gather_p})
_OURS_VARYING = frozenset({reduce_scatter_p, replica_id_p})
_LAX_COMMON = frozenset(
    {"psum", "psum_invariant", "pmax", "pmin", "all_gather", "all_gather_invariant"}
)
_MAKES_DIFFERENT = frozenset({"axis_index", "rng_uniform"})


def varying_outputs(step: ClosedJaxpr, varying_in: Sequence[bool]) -> list[bool]:
    """Which outputs of a step may differ between replicas.

    Args:
      step: The traced step.
      varying_in: Which of its inputs do.
    """
    return [cause is not None for cause in varying_sources(step, varying_in)]


def varying_sources(step: ClosedJaxpr, varying_in: Sequence[bool]) -> list[_Cause]:
    """For each output of a step, why it may differ between replicas, else None.

    Args:
      step: The traced step.
      varying_in: Which of its inputs do.
    """
    return _Flow().through(step, _inputs(varying_in))


def diverging_meeting(step: ClosedJaxpr, varying_in: Sequence[bool]) -> str | None:
    """Where replicas may fail to meet: a collective that not all of them may reach.

    Args:
      step: The traced step.
      varying_in: Which of its inputs differ between replicas.

    Returns:
      The location of a branch or loop that holds a collective and is decided by
      something that differs between replicas; None if there is none.
    """
    flow = _Flow()
    flow.through(step, _inputs(varying_in))
    return location(flow.diverging[0]) if flow.diverging else None


def _inputs(varying: Sequence[bool]) -> list[_Cause]:
    return [Source(input=i) if varies else None for i, varies in enumerate(varying)]


def _first(causes: Sequence[_Cause]) -> _Cause:
    return next((cause for cause in causes if cause is not None), None)


def _either(ones: Sequence[_Cause], others: Sequence[_Cause]) -> list[_Cause]:
    return [one or other for one, other in zip(ones, others, strict=True)]


class _Flow:
    """The walk through a step.

    Attributes:
      diverging: Branches and loops that hold collectives, and that replicas may take
        differently.
    """

    def __init__(self) -> None:
        self.diverging: list[JaxprEqn] = []

    def through(self, body: ClosedJaxpr, inputs: Sequence[_Cause]) -> list[_Cause]:
        """What a program's outputs are like when its inputs are like these."""
        env: dict[Var, _Cause] = dict(zip(body.jaxpr.invars, inputs, strict=True))

        def read(atom: Atom) -> _Cause:
            return None if isinstance(atom, Literal) else env.get(atom)

        for eqn in body.jaxpr.eqns:
            results = self._results(eqn, [read(atom) for atom in eqn.invars])
            env.update(zip(eqn.outvars, results, strict=True))
        return [read(atom) for atom in body.jaxpr.outvars]

    def _results(self, eqn: JaxprEqn, operands: list[_Cause]) -> list[_Cause]:
        rule = _RULES.get(eqn.primitive.name)
        if rule is not None:
            return rule(self, eqn, operands)
        call = called_jaxpr(eqn)
        if call is not None:
            return self.through(call, operands)
        return [_of_operation(eqn, operands)] * len(eqn.outvars)

    def scan(self, eqn: JaxprEqn, operands: list[_Cause]) -> list[_Cause]:
        """What is carried may become different in any round."""
        body, first = closed(eqn.params["jaxpr"]), eqn.params["num_consts"]
        count: int = eqn.params["num_carry"]
        constants, rows = operands[:first], operands[first + count :]

        def turn(carry: list[_Cause]) -> list[_Cause]:
            return self.through(body, [*constants, *carry, *rows])

        carry = _settled(operands[first : first + count], turn)
        return [*carry, *turn(carry)[count:]]

    def while_(self, eqn: JaxprEqn, operands: list[_Cause]) -> list[_Cause]:
        """Replicas that leave a loop at different times have different results."""
        params = eqn.params
        tested: int = params["cond_nconsts"]
        first: int = tested + params["body_nconsts"]
        body, test = closed(params["body_jaxpr"]), closed(params["cond_jaxpr"])

        def turn(carry: list[_Cause]) -> list[_Cause]:
            return self.through(body, [*operands[tested:first], *carry])

        carry = _settled(operands[first:], turn)
        decision = self.through(test, [*operands[:tested], *carry])[0]
        return self._decided(eqn, decision, carry)

    def cond(self, eqn: JaxprEqn, operands: list[_Cause]) -> list[_Cause]:
        """Replicas that take different branches have different results."""
        decision, *inputs = operands
        results: list[_Cause] = [None] * len(eqn.outvars)
        for branch in eqn.params["branches"]:
            results = _either(results, self.through(closed(branch), inputs))
        return self._decided(eqn, decision, results)

    def barrier(self, eqn: JaxprEqn, operands: list[_Cause]) -> list[_Cause]:
        """Every result is the operand of the same number."""
        del self, eqn
        return operands

    def _decided(
        self, eqn: JaxprEqn, decision: _Cause, results: list[_Cause]
    ) -> list[_Cause]:
        if decision is None:
            return results
        if meets_inside(eqn):
            self.diverging.append(eqn)
        return [result or decision for result in results]


def _settled(
    carry: list[_Cause], turn: Callable[[list[_Cause]], list[_Cause]]
) -> list[_Cause]:
    """What a loop carries when another turn makes nothing more of it different."""
    while True:
        after = _either(carry, turn(carry)[: len(carry)])
        if after == carry:
            return carry
        carry = after


def _of_operation(eqn: JaxprEqn, operands: list[_Cause]) -> _Cause:
    here = Source(operation=operation(eqn), location=location(eqn))
    if eqn.primitive in _OURS_COMMON:
        return None
    if eqn.primitive in _OURS_VARYING or eqn.primitive.name in _MAKES_DIFFERENT:
        return here
    if is_collective(eqn):
        whole = eqn.params.get("axis_index_groups") is None
        return None if whole and eqn.primitive.name in _LAX_COMMON else here
    cause = _first(operands)
    if cause is None and (eqn.effects or _may_differ(eqn)):
        return here
    return cause


def _may_differ(eqn: JaxprEqn) -> bool:
    """Whether programs that are not understood hold anything that makes a difference.

    An operation with a body of its own, such as a linear solve or a kernel.
    """
    return any(
        inner.primitive in _OURS_VARYING
        or inner.primitive.name in _MAKES_DIFFERENT
        or is_collective(inner)
        or _may_differ(inner)
        for body in sub_jaxprs(eqn)
        for inner in body.jaxpr.eqns
    )


_RULES: dict[str, Callable[[_Flow, JaxprEqn, list[_Cause]], list[_Cause]]] = {
    "scan": _Flow.scan,
    "while": _Flow.while_,
    "cond": _Flow.cond,
    "optimization_barrier": _Flow.barrier,
}
