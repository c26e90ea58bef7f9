"""The operations in which replicas meet, as JAX primitives.

They are primitives of ours, rather than ``jax.lax.psum`` and others at once, so that
whoever reads a step's jaxpr can find them wherever they sit (inside ``jit``,
``checkpoint`` or a custom gradient): ragged steps are cut at them, and the search for
divergence judges by them. Compiled, they are lowered to XLA's collectives; run
eagerly, they hand the value to the other replicas' threads.

A gradient that flows back through ``all_reduce`` is all-reduced itself; one through
``all_gather`` is summed over the replicas, each of which keeps the part that belongs
to its own rows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import jax
import jax.core
import jax.numpy as jnp
from jax import lax
from jax.interpreters import ad, batching, mlir

from replax._src.core.jax_compat import Primitive, axis_bound, is_lowered_over
from replax._src.replica import scope
from replax._src.replica.between_processes import sum_between_processes
from replax._src.replica.options import CommunicationOptions
from replax._src.replica.packing import packed
from replax._src.topology.topology import REPLICA_AXIS, Topology
from replax._src.topology.wiring import Wiring

__all__ = [
    "COLLECTIVES",
    "Exchange",
    "all_gather_p",
    "all_reduce",
    "all_reduce_p",
    "reduce_scatter_p",
    "replica_id_p",
    "summed",
]

ShapedArray = jax.core.ShapedArray

all_reduce_p = Primitive("replica_all_reduce")
all_reduce_p.multiple_results = True
all_gather_p = Primitive("replica_all_gather")
reduce_scatter_p = Primitive("replica_reduce_scatter")
replica_id_p = Primitive("replica_id")

# What all replicas must execute together, in the same order.
COLLECTIVES = frozenset({all_reduce_p, all_gather_p, reduce_scatter_p})


class Exchange(Protocol):
    """Where the replicas of an eager run meet: each hands in a value."""

    def all_reduce(self, values: Sequence[jax.Array]) -> list[jax.Array]:
        """The sums over all replicas."""
        ...

    def all_gather(self, value: jax.Array, axis: int) -> jax.Array:
        """The values of all replicas, one after the other along ``axis``."""
        ...

    def reduce_scatter(self, value: jax.Array, axis: int, size: int) -> jax.Array:
        """The part of the summed values that lies at this replica's place."""
        ...


_NOT_OVER_REPLICAS = (
    "replicas are brought together inside of jax.jit, scan, cond or the like in a run "
    "that is not compiled as a whole, where a program for one replica cannot reach the "
    "others; compile the whole step with replax.function, or take the collective out "
    "of the inner function"
)


def _exchange(name: str) -> Exchange:
    here = scope.current()
    exchange: Exchange | None = here.exchange if here is not None else None
    if exchange is None:
        msg = (
            f"{name} joins the replicas of a running step, but no step is running "
            f"here; call it in a function given to strategy.run"
        )
        raise RuntimeError(msg)
    return exchange


# --- all_reduce: operands of any shapes; every replica gets the sums ------------------


def _all_reduce_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[list[Any], list[Any]]:
    sums = all_reduce_p.bind(*primals, **params)
    moving = [i for i, t in enumerate(tangents) if not isinstance(t, ad.Zero)]
    out: list[Any] = [ad.Zero(jax.typeof(s).to_tangent_aval()) for s in sums]
    if moving:
        summed = all_reduce_p.bind(*(tangents[i] for i in moving), **params)
        for i, tangent in zip(moving, summed, strict=True):
            out[i] = tangent
    return sums, out


def _all_reduce_transpose(
    cotangents: Sequence[Any], *operands: Any, **params: Any
) -> list[Any]:
    moving = [i for i, ct in enumerate(cotangents) if not isinstance(ct, ad.Zero)]
    out: list[Any] = list(cotangents)
    if moving:
        summed = all_reduce_p.bind(*(cotangents[i] for i in moving), **params)
        for i, ct in zip(moving, summed, strict=True):
            out[i] = ct
    return [
        ct if ad.is_undefined_primal(x) else None
        for x, ct in zip(operands, out, strict=True)
    ]


def _all_reduce_batch(
    operands: Sequence[Any], dims: Sequence[Any], **params: Any
) -> tuple[list[Any], Sequence[Any]]:
    return all_reduce_p.bind(*operands, **params), dims


def _lower(
    collective: Any,
) -> Any:
    """A lowering rule for what ``collective`` computes with ``jax.lax``."""

    def rule(ctx: mlir.LoweringRuleContext, *operands: Any, **params: Any) -> Any:
        if not is_lowered_over(ctx, REPLICA_AXIS):
            raise RuntimeError(_NOT_OVER_REPLICAS)
        with axis_bound(REPLICA_AXIS, params["num_replicas"]):
            lowered = mlir.lower_fun(collective, multiple_results=True)
            return lowered(ctx, *operands, **params)

    return rule


def _psum(
    *operands: jax.Array, num_replicas: int, wiring: Wiring | None = None
) -> list[jax.Array]:
    del num_replicas, wiring
    return _summed(operands)


def _summed(operands: Sequence[jax.Array]) -> list[jax.Array]:
    return list(lax.psum([_shielded(x) for x in operands], REPLICA_AXIS))


def _shielded(operand: jax.Array) -> jax.Array:
    """Keeps XLA for CPUs from folding a complex constant, at which it aborts."""
    if not jnp.issubdtype(operand.dtype, jnp.complexfloating):
        return operand
    return lax.optimization_barrier(operand)


def _summed_on_cpu(
    *operands: jax.Array, num_replicas: int, wiring: Wiring | None = None
) -> list[jax.Array]:
    if wiring is not None and wiring.is_composed:
        shielded = [_shielded(x) for x in operands]
        return sum_between_processes(shielded, wiring, num_replicas)
    return packed(_summed, operands)


def summed(operands: Sequence[jax.Array], topology: Topology) -> list[jax.Array]:
    """The sums over all replicas, inside of ``shard_map``."""
    if not topology.is_cpu:
        return _summed(operands)
    return _summed_on_cpu(
        *operands, num_replicas=topology.num_replicas, wiring=topology.wiring
    )


def all_reduce(
    arrays: Sequence[Any],
    topology: Topology,
    options: CommunicationOptions | None = None,
) -> list[jax.Array]:
    """The sums over all replicas, wherever the code runs."""
    wiring = topology.wiring
    if wiring is not None and options is not None and options.bytes_per_pack:
        wiring = dataclasses.replace(wiring, bytes_per_pack=options.bytes_per_pack)
    return all_reduce_p.bind(*arrays, num_replicas=topology.num_replicas, wiring=wiring)


all_reduce_p.def_impl(
    lambda *operands, **_: _exchange("all_reduce").all_reduce(operands)
)
all_reduce_p.def_abstract_eval(
    lambda *operands, **_: [ShapedArray(x.shape, x.dtype) for x in operands]
)
ad.primitive_jvps[all_reduce_p] = _all_reduce_jvp
ad.primitive_transposes[all_reduce_p] = _all_reduce_transpose
batching.primitive_batchers[all_reduce_p] = _all_reduce_batch
mlir.register_lowering(all_reduce_p, _lower(_psum))
mlir.register_lowering(all_reduce_p, _lower(_summed_on_cpu), platform="cpu")


# --- all_gather and reduce_scatter: each the transpose of the other -------------------
#
# `total` is the length of the gathered axis, `size` that of this replica's part. When
# all parts are equally long, total == size * num_replicas.


def _resized(aval: Any, axis: int, length: int) -> Any:
    shape = (*aval.shape[:axis], length, *aval.shape[axis + 1 :])
    return ShapedArray(shape, aval.dtype)


def _gather_batch(
    operands: Sequence[Any], dims: Sequence[Any], *, axis: int, **params: Any
) -> tuple[Any, Any]:
    (operand,), (dim,) = operands, dims
    moved = jnp.moveaxis(operand, dim, 0)
    return all_gather_p.bind(moved, axis=axis + 1, **params), 0


def _scatter_batch(
    operands: Sequence[Any], dims: Sequence[Any], *, axis: int, **params: Any
) -> tuple[Any, Any]:
    (operand,), (dim,) = operands, dims
    moved = jnp.moveaxis(operand, dim, 0)
    return reduce_scatter_p.bind(moved, axis=axis + 1, **params), 0


def _lax_gather(
    operand: jax.Array, *, axis: int, size: int, total: int, num_replicas: int
) -> list[jax.Array]:
    if total == 0:
        return [operand]  # XLA has no all-gather of nothing
    if total != size * num_replicas:
        msg = (
            f"parts of {size} rows on {num_replicas} replicas cannot make {total}; a "
            f"step whose replicas differ has to be cut at its collectives first"
        )
        raise AssertionError(msg)
    return [lax.all_gather(operand, REPLICA_AXIS, axis=axis, tiled=True)]


def _lax_scatter(
    operand: jax.Array, *, axis: int, size: int, total: int, num_replicas: int
) -> list[jax.Array]:
    del size, total, num_replicas
    if operand.size == 0:
        # XLA has no reduce-scatter of nothing; every part of it is empty as well.
        return [lax.slice_in_dim(operand, 0, 0, axis=axis)]
    return [lax.psum_scatter(operand, REPLICA_AXIS, scatter_dimension=axis, tiled=True)]


all_gather_p.def_impl(
    lambda operand, *, axis, size, total, num_replicas: _exchange(
        "all_gather"
    ).all_gather(operand, axis)
)
all_gather_p.def_abstract_eval(
    lambda operand, *, axis, size, total, num_replicas: _resized(operand, axis, total)
)
ad.deflinear2(
    all_gather_p,
    lambda ct, operand, **params: [reduce_scatter_p.bind(ct, **params)],
)
batching.primitive_batchers[all_gather_p] = _gather_batch
mlir.register_lowering(all_gather_p, _lower(_lax_gather))

reduce_scatter_p.def_impl(
    lambda operand, *, axis, size, total, num_replicas: _exchange(
        "all_gather"
    ).reduce_scatter(operand, axis, size)
)
reduce_scatter_p.def_abstract_eval(
    lambda operand, *, axis, size, total, num_replicas: _resized(operand, axis, size)
)
ad.deflinear2(
    reduce_scatter_p,
    lambda ct, operand, **params: [all_gather_p.bind(ct, **params)],
)
batching.primitive_batchers[reduce_scatter_p] = _scatter_batch
mlir.register_lowering(reduce_scatter_p, _lower(_lax_scatter))


# --- replica_id: which replica a compiled step is running on --------------------------


def _axis_index(*, num_replicas: int) -> list[jax.Array]:
    del num_replicas
    return [lax.axis_index(REPLICA_AXIS).astype(jnp.int32)]


replica_id_p.def_abstract_eval(
    lambda *, num_replicas: ShapedArray((), jnp.dtype("int32"))
)
mlir.register_lowering(replica_id_p, _lower(_axis_index))
