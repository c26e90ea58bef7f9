"""The collectives of a ragged step, which all replicas run together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from replax._src.core.jax_compat import JaxprEqn
from replax._src.execution.arrangement import Arrangement
from replax._src.execution.equations import evaluate, operation, type_of
from replax._src.execution.sameness import same_params
from replax._src.execution.slots import Slot
from replax._src.replica.collectives import all_gather_p, reduce_scatter_p
from replax._src.topology.topology import REPLICA_AXIS

__all__ = ["Meeting", "Run", "check_meetings", "collective"]

# What a meeting computes from this replica's class, everybody's classes, and operands.
Run = Callable[[jax.Array, jax.Array, Sequence[Any]], Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class Meeting:
    """One thing that all replicas do together.

    Attributes:
      operands: The slots it reads.
      results: The slots it writes.
      run: What it computes.
    """

    operands: tuple[Slot, ...]
    results: tuple[Slot, ...]
    run: Run

    @classmethod
    def of(cls, equations: Sequence[JaxprEqn], run: Run) -> Meeting:
        """A meeting that runs on what its equations take, padded to one shape."""
        operands = zip(*(eqn.invars for eqn in equations), strict=True)
        results = zip(*(eqn.outvars for eqn in equations), strict=True)
        return cls(
            tuple(Slot.around([type_of(atom) for atom in atoms]) for atoms in operands),
            tuple(Slot.around([type_of(var) for var in outs]) for outs in results),
            run,
        )


def check_meetings(
    steps: Sequence[Sequence[JaxprEqn]], arrangement: Arrangement
) -> None:
    """Checks that replicas of all classes meet for the same things in one order.

    Args:
      steps: The meetings of each class.
      arrangement: The classes.

    Raises:
      ValueError: If they do not; it names the first meeting that differs.
    """
    for number in range(max(map(len, steps))):
        here = [step[number] if number < len(step) else None for step in steps]
        kinds = {None if eqn is None else _kind(eqn) for eqn in here}
        if len(kinds) > 1:
            msg = (
                f"the replicas have different local shapes in this step, and their "
                f"collective number {number + 1} differs:\n{arrangement.each(here)}\n"
                f"All replicas must meet for the same operations in the same order, "
                f"or they would wait for each other for ever; call them whatever the "
                f"number of rows, not under an `if` that asks for a shape"
            )
            raise ValueError(msg)


def _kind(eqn: JaxprEqn) -> tuple[Any, ...]:
    """What has to agree for replicas to meet at an equation at all."""
    types = tuple((a.dtype, len(a.shape)) for a in map(type_of, eqn.invars))
    return (eqn.primitive, types, len(eqn.outvars))


def collective(equations: Sequence[JaxprEqn], arrangement: Arrangement) -> Meeting:
    """The meeting at one collective.

    Args:
      equations: The equation that stands for it in each class.
      arrangement: The classes.

    Raises:
      ValueError: If the shapes do not go together.
    """
    primitive = equations[0].primitive
    if primitive is all_gather_p and equations[0].params["total"] == 0:
        return Meeting.of(equations, _nothing)  # XLA cannot gather along no rows.
    if all(_alike(equations[0], eqn) for eqn in equations[1:]):
        return Meeting.of(equations, _as_it_is(equations[0]))
    if primitive in (all_gather_p, reduce_scatter_p):
        _check_parts(equations, arrangement)
        ragged = _gather if primitive is all_gather_p else _scatter
        return Meeting.of(equations, ragged(equations, arrangement))
    name = operation(equations[0])
    msg = (
        f"{name} needs the same shape on all replicas, whose local shapes differ in "
        f"this step:\n{arrangement.each(equations)}\n"
        f"Reduce over the rows first, as in all_reduce('SUM', jnp.sum(x, axis=0)), or "
        f"use the replica context's all_gather, which takes parts of different lengths"
    )
    raise ValueError(msg)


def _alike(one: JaxprEqn, other: JaxprEqn) -> bool:
    shapes = [[type_of(atom).shape for atom in eqn.invars] for eqn in (one, other)]
    return shapes[0] == shapes[1] and same_params(one.params, other.params)


def _nothing(
    class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
) -> Sequence[Any]:
    """What all replicas have when none has a row: what each has, padded to no rows."""
    del class_id, class_ids
    return operands


def _as_it_is(eqn: JaxprEqn) -> Run:
    def run(
        class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
    ) -> list[Any]:
        del class_id, class_ids
        return _rebound(eqn, operands)

    return run


def _rebound(eqn: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
    """Runs one equation on other operands."""
    names = [type(eqn.outvars[0])(atom.aval) for atom in eqn.invars]
    env = dict(zip(names, operands, strict=True))
    return evaluate([eqn.replace(invars=list(names))], env, eqn.outvars)


def _check_parts(equations: Sequence[JaxprEqn], arrangement: Arrangement) -> None:
    axis: int = equations[0].params["axis"]
    sizes = [eqn.params["size"] for eqn in equations]
    rows = zip(arrangement.counts, sizes, strict=True)
    expected = sum(count * size for count, size in rows)
    totals = {eqn.params["total"] for eqn in equations}
    around = {
        (
            eqn.params["axis"],
            *(n for i, n in enumerate(type_of(eqn.invars[0]).shape) if i != axis),
        )
        for eqn in equations
    }
    if len(around) > 1:
        msg = (
            f"the parts of {operation(equations[0])} may differ in length along one "
            f"axis only, the one they are joined along:\n"
            f"{arrangement.each(equations)}\n"
            f"Give them the same shape but for axis {axis}"
        )
        raise ValueError(msg)
    if totals != {expected}:
        msg = (
            f"{operation(equations[0])} was traced for {sorted(totals)} rows in all, "
            f"but its parts of {sizes} rows on {list(arrangement.counts)} replicas "
            f"make {expected}:\n{arrangement.each(equations)}"
        )
        raise ValueError(msg)


def _gather(equations: Sequence[JaxprEqn], arrangement: Arrangement) -> Run:
    axis: int = equations[0].params["axis"]
    total: int = equations[0].params["total"]
    sizes = [eqn.params["size"] for eqn in equations]

    def run(
        class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
    ) -> list[Any]:
        del class_id
        parts = lax.all_gather(operands[0], REPLICA_AXIS, axis=axis, tiled=True)
        starts = arrangement.starts(sizes, class_ids)
        rows = jnp.arange(total, dtype=jnp.int32)
        # An empty part starts where the next one does; the last to start has the row.
        owner = jnp.sum(rows[:, None] >= starts[None, :], axis=1, dtype=jnp.int32) - 1
        place = owner * max(sizes) + rows - starts[owner]
        index = (*[slice(None)] * axis, place)
        return [parts.at[index].get(mode="promise_in_bounds")]

    return run


def _scatter(equations: Sequence[JaxprEqn], arrangement: Arrangement) -> Run:
    axis: int = equations[0].params["axis"]
    sizes = [eqn.params["size"] for eqn in equations]
    longest = max(sizes)

    def run(
        class_id: jax.Array, class_ids: jax.Array, operands: Sequence[Any]
    ) -> list[Any]:
        summed = lax.psum(operands[0], REPLICA_AXIS)
        rank = summed.ndim
        behind = [(0, longest if i == axis else 0, 0) for i in range(rank)]
        roomy = lax.pad(summed, jnp.zeros((), summed.dtype), behind)
        start = arrangement.starts(sizes, class_ids)[lax.axis_index(REPLICA_AXIS)]
        part = lax.dynamic_slice_in_dim(roomy, start, longest, axis=axis)
        row = lax.broadcasted_iota(jnp.int32, part.shape, axis)
        own = row < jnp.asarray(sizes, jnp.int32)[class_id]
        return [jnp.where(own, part, jnp.zeros_like(part))]

    return run
