"""Loops and branches of a ragged step in which replicas meet.

Such a loop is run by all replicas together, on padded values; its body is a ragged
step of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
from jax import lax

from replax._src.core.jax_compat import ClosedJaxpr, JaxprEqn
from replax._src.execution.arrangement import Arrangement
from replax._src.execution.equations import as_recorded, closed, location, operation
from replax._src.execution.meetings import Meeting, Run

__all__ = ["Body", "loop"]


class Body(Protocol):
    """A part of a step that has been merged for all shape classes."""

    def __call__(
        self, class_id: jax.Array, class_ids: jax.Array, *inputs: Any
    ) -> list[Any]:
        """Runs it on padded inputs."""
        ...


Merge = Callable[[Sequence[ClosedJaxpr]], Body]


def loop(
    equations: Sequence[JaxprEqn], arrangement: Arrangement, merge: Merge
) -> Meeting:
    """The meeting that is a whole loop or branch.

    Args:
      equations: The equation that stands for it in each class.
      arrangement: The classes.
      merge: Makes one body out of those of all classes.

    Raises:
      ValueError: If the classes' loops cannot run in step.
    """
    kind = equations[0].primitive.name
    build = _KINDS.get(kind)
    if build is None:
        msg = (
            f"the replicas have different local shapes in this step, so it has to be "
            f"cut at its collectives, but one of them is inside "
            f"{operation(equations[0])}, which cannot be cut "
            f"({location(equations[0])}); call it outside"
        )
        raise ValueError(msg)
    fixed, run = build(equations, merge)
    for name in fixed:
        values = [eqn.params[name] for eqn in equations]
        if any(value != values[0] for value in values):
            msg = (
                f"replicas meet inside this {kind}, so it must have the same {name} on "
                f"all of them, but it depends on the local shape: {values}\n"
                f"{arrangement.each(equations)}\n"
                f"Loop over something that all replicas have equally many of, or call "
                f"the collective after the {kind}"
            )
            raise ValueError(msg)
    return Meeting.of(equations, _at(equations[0], run()))


def _at(eqn: JaxprEqn, run: Run) -> Run:
    """Runs a loop as what the user has written, for errors and profiles."""

    def recorded(
        class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
    ) -> Sequence[Any]:
        with as_recorded(eqn):
            return run(class_id, class_ids, operands)

    return recorded


_Built = tuple[Sequence[str], Callable[[], Run]]


def _bodies(
    equations: Sequence[JaxprEqn], merge: Merge, name: str, index: int | None = None
) -> Body:
    params = [eqn.params[name] for eqn in equations]
    return merge([closed(p if index is None else p[index]) for p in params])


def _scan(equations: Sequence[JaxprEqn], merge: Merge) -> _Built:
    params = equations[0].params
    constants: int = params["num_consts"]
    carried = constants + params["num_carry"]

    def build() -> Run:
        merged = _bodies(equations, merge, "jaxpr")

        def run(
            class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
        ) -> list[Any]:
            def body(carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
                inputs = (*operands[:constants], *carry, *row)
                outs = merged(class_id, class_ids, *inputs)
                return outs[: len(carry)], outs[len(carry) :]

            init, rows = operands[constants:carried], operands[carried:]
            last, stacked = lax.scan(
                body,
                list(init),
                list(rows),
                length=params["length"],
                reverse=params["reverse"],
                unroll=params["unroll"],
            )
            return [*last, *stacked]

        return run

    return ("length", "reverse", "num_consts", "num_carry"), build


def _while(equations: Sequence[JaxprEqn], merge: Merge) -> _Built:
    params = equations[0].params
    tested: int = params["cond_nconsts"]
    constants = tested + params["body_nconsts"]

    def build() -> Run:
        merged_test = _bodies(equations, merge, "cond_jaxpr")
        merged_body = _bodies(equations, merge, "body_jaxpr")

        def run(
            class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
        ) -> list[Any]:
            def test(carry: list[Any]) -> Any:
                return merged_test(class_id, class_ids, *operands[:tested], *carry)[0]

            def body(carry: list[Any]) -> list[Any]:
                inputs = (*operands[tested:constants], *carry)
                return merged_body(class_id, class_ids, *inputs)

            return lax.while_loop(test, body, list(operands[constants:]))

        return run

    return ("cond_nconsts", "body_nconsts"), build


def _cond(equations: Sequence[JaxprEqn], merge: Merge) -> _Built:
    number = min(len(eqn.params["branches"]) for eqn in equations)

    def build() -> Run:
        merged = [_bodies(equations, merge, "branches", i) for i in range(number)]

        def run(
            class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
        ) -> list[Any]:
            def branch(body: Body) -> Callable[..., list[Any]]:
                return lambda *inputs: body(class_id, class_ids, *inputs)

            index, *inputs = operands
            return lax.switch(index, [branch(body) for body in merged], *inputs)

        return run

    return (), build


_KINDS: dict[str, Callable[[Sequence[JaxprEqn], Merge], _Built]] = {
    "scan": _scan,
    "while": _while,
    "cond": _cond,
}
