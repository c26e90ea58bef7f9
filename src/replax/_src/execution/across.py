"""Bringing per-replica values together between steps: ``reduce`` and ``gather``."""

from __future__ import annotations

import base64
import dataclasses
import functools
import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from replax._src.cluster.agreement import written
from replax._src.core import host, jax_compat
from replax._src.core.errors import InvalidArgumentError
from replax._src.execution.opaque import Classes, opaque_p
from replax._src.replica import scope
from replax._src.replica.reduce_op import ReduceOp, mean_dtype
from replax._src.topology import window
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues, PerReplica, Spread
from replax._src.values.handle import is_handle
from replax._src.values.variable import Variable

__all__ = ["gather", "reduce"]

Shape = tuple[int, ...]
Axes = tuple[int, ...] | None


def reduce(op: ReduceOp | str, value: Any, axis: Any, topology: Topology) -> Any:
    """The sum or mean of a value over replicas, and over axes within each.

    Args:
      op: How.
      value: A per-replica value, or with ``axis=None`` a nest of them.
      axis: None, or which dimensions of each replica's value are reduced as well.
      topology: The strategy's replicas.
    """
    reduce_op = ReduceOp.of(op)
    axes = _checked_axes(axis)
    leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=is_handle)
    if axes is not None and len(leaves) > 1:
        msg = (
            f"reduce with axis={axis} takes one value and was given a nest of "
            f"{len(leaves)}; reduce them one by one with jax.tree.map, or use axis=None"
        )
        raise ValueError(msg)
    joining = _Reduction(reduce_op, axes)
    return treedef.unflatten([_reduced(leaf, joining, topology) for leaf in leaves])


def gather(value: Any, axis: int, topology: Topology) -> Any:
    """The values of all replicas, one after the other along ``axis``."""
    leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=is_handle)
    if not isinstance(axis, (int, np.integer)):
        msg = f"axis is {axis!r}; give the dimension to put the values together by"
        raise TypeError(msg)
    joining = _Gathering(int(axis))
    return treedef.unflatten([_joined(leaf, joining, topology) for leaf in leaves])


def _checked_axes(axis: Any) -> Axes:
    if axis is None:
        return None
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if not all(isinstance(a, (int, np.integer)) for a in axes):
        msg = f"axis is {axis!r}; give None, an integer, or a tuple of integers"
        raise TypeError(msg)
    return tuple(int(a) for a in axes)


def _reduced(leaf: Any, joining: _Reduction, topology: Topology) -> Any:
    if isinstance(leaf, Variable):
        return _reduced_variable(leaf, joining, topology)
    if isinstance(leaf, DistributedValues):
        return _joined(leaf, joining, topology)
    if topology.is_single:
        return leaf if joining.axes is None else joining.of_one(leaf)
    if topology.is_only_local:
        return _reduced_here(leaf, joining, topology)
    if joining.axes is not None:
        return joining.of_equals(leaf, topology.num_replicas)
    if joining.op is ReduceOp.SUM:
        msg = (
            f"reduce('SUM') of {_brief(leaf)}, which is one value and not one for each "
            f"of the {topology.num_replicas} replicas: it is not said whether it "
            f"counts once. Reduce what strategy.run returned, or multiply it yourself"
        )
        raise ValueError(msg)
    return leaf


def _reduced_here(leaf: Any, joining: _Reduction, topology: Topology) -> Any:
    """Of a plain value where it is that of this process's only replica."""
    if scope.current_frame() is not None:  # one program: it is the same everywhere
        return joining.of_equals(leaf, topology.num_replicas)
    return _joined(PerReplica.on((leaf,), topology), joining, topology)


def _reduced_variable(
    variable: Variable, joining: _Reduction, topology: Topology
) -> Any:
    if isinstance(variable, DistributedValues):
        return jax.tree.map(
            lambda leaf: _joined(leaf, joining, topology),
            _per_replica(variable, topology),
            is_leaf=is_handle,
        )
    return jax.tree.map(
        lambda leaf: _reduced(leaf, joining, topology), variable.read_value()
    )


def _per_replica(value: DistributedValues, topology: Topology) -> Any:
    """A per-replica value, or a tree of them where the components are trees."""
    return jax.tree.map(lambda *column: PerReplica.on(column, topology), *value.values)


def _joined(leaf: Any, joining: _Joining, topology: Topology) -> Any:
    if not isinstance(leaf, DistributedValues):
        # One value for all replicas is together already.
        if not topology.is_single or _is_on_host(leaf):
            return leaf
        return joining.of_one(leaf)
    if not isinstance(leaf, PerReplica):
        parts = _per_replica(leaf, topology)
        return jax.tree.map(
            lambda part: _joined(part, joining, topology), parts, is_leaf=is_handle
        )
    value: PerReplica = leaf
    frame: Any = scope.current_frame()
    if value.spread is not None or frame is not None:
        return _joined_in_frame(value, joining, topology, frame)
    if not joining.takes(value):
        return joining.on_host(value, topology)
    if topology.is_single:
        return joining.of_one(*value.values)
    return _joined_now(value, joining, topology)


def _joined_in_frame(
    value: PerReplica, joining: _Joining, topology: Topology, frame: Any
) -> Any:
    if frame.per_replica:
        # Between the replicas of one step: the rows are all here.
        spread = value.spread
        if spread is None:
            spread = Spread(jnp.stack(value.values), (), topology)
        shape = tuple(spread.stacked.shape[1:])
        joining.check(shape)
        return joining.of_rows(spread.stacked, (shape,), (topology.num_replicas,))
    spread = frame.spread(value, topology)
    counts = frame.grouping.counts
    for shape in spread.shapes:
        joining.check(shape)
    aval = joining.aval(spread.stacked, spread.shapes, counts)
    operation = _Between(joining)
    return opaque_p.bind(spread.stacked, operation=operation, avals=(aval,))[0]


def _joined_now(value: PerReplica, joining: _Joining, topology: Topology) -> Any:
    stacked, shapes = value.stack(topology, "a value to be brought together")
    for shape in dict.fromkeys(shapes):
        joining.check(shape)
    groups = tuple(dict.fromkeys(shapes))
    counts = tuple(shapes.count(shape) for shape in groups)
    ids = tuple(groups.index(shape) for shape in shapes)
    with topology.meeting():
        if topology.agreement is not None:
            kinds = [
                (f"replica {i}", f"{stacked.dtype}{list(shape)}")
                for i, shape in enumerate(shapes)
            ]
            topology.agreement.enter(written(joining.label, kinds))
        result, token = _program(joining, groups, counts, ids, topology)(stacked)
        if topology.is_cpu:
            window.admit(token)
            if topology.agreement is not None:
                # If a process is gone, that is to be said here, and not by what reads
                # the result.
                token.block_until_ready()
    return jax_compat.uncommitted(result.addressable_data(0))


@functools.lru_cache(maxsize=256)
def _program(
    joining: _Joining,
    shapes: tuple[Shape, ...],
    counts: tuple[int, ...],
    ids: tuple[int, ...],
    topology: Topology,
) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    def program(stacked: jax.Array) -> tuple[jax.Array, jax.Array]:
        known = None if len(counts) == 1 else jnp.asarray(ids, jnp.int32)
        return joining.of_rows(stacked, shapes, counts, known), jnp.zeros((), jnp.int32)

    return jax.jit(program, out_shardings=topology.replicated)


@dataclasses.dataclass(frozen=True)
class _Joining:
    """A way to make one array of the replicas' rows."""

    @property
    def label(self) -> str:
        """What it is called in an error."""
        raise NotImplementedError

    def check(self, shape: Shape) -> None:
        """Refuses a replica's value that has no such axis."""
        raise NotImplementedError

    def of_one(self, value: Any) -> Any:
        """The result, from the value of an only replica."""
        array = jnp.asarray(host.canonical(value, "a value to be brought together"))
        self.check(array.shape)
        return self.of_rows(array[None], (array.shape,), (1,))

    def takes(self, value: PerReplica) -> bool:
        """Whether the components can be stacked for it."""
        del value
        return True

    def on_host(self, value: PerReplica, topology: Topology) -> Any:
        """The same for components that stay on the host."""
        raise NotImplementedError

    def of_rows(
        self,
        stacked: Any,
        shapes: tuple[Shape, ...],
        counts: tuple[int, ...],
        ids: Any = None,
    ) -> Any:
        """The result, from zero-padded rows.

        Args:
          stacked: The replicas' values on a leading axis.
          shapes: The true shape in each class.
          counts: How many replicas are of each class.
          ids: The class of each replica; None if there is one class.
        """
        raise NotImplementedError

    def aval(
        self, stacked: Any, shapes: tuple[Shape, ...], counts: tuple[int, ...]
    ) -> Any:
        """The type of the result."""
        ids = jax.ShapeDtypeStruct((sum(counts),), np.dtype("int32"))
        spec = jax.eval_shape(
            lambda rows, i: self.of_rows(rows, shapes, counts, i), stacked, ids
        )
        return jax.core.ShapedArray(spec.shape, spec.dtype)


@dataclasses.dataclass(frozen=True)
class _Reduction(_Joining):
    """A sum or a mean over replicas and axes."""

    op: ReduceOp
    axes: Axes

    @property
    def label(self) -> str:
        return f"reduce({self.op.value!r}, axis={self.axes})"

    def of_equals(self, value: Any, count: int) -> Any:
        """The result, from the value that each of ``count`` replicas has."""
        of_one = self.of_one(value)
        return of_one * count if self.op is ReduceOp.SUM else of_one

    def check(self, shape: Shape) -> None:
        axes = self.axes or ()
        for axis in axes:
            if not -len(shape) <= axis < len(shape):
                msg = (
                    f"reduce with axis={axis} of a value of shape {shape} on each "
                    f"replica, which has no such axis; use axis=None to reduce over "
                    f"the replicas only"
                )
                raise ValueError(msg)
        if len({axis % len(shape) for axis in axes}) < len(axes):
            msg = (
                f"reduce with axis={axes} of a value of shape {shape} on each replica "
                f"names an axis twice; name each once"
            )
            raise ValueError(msg)

    def of_rows(
        self,
        stacked: Any,
        shapes: tuple[Shape, ...],
        counts: tuple[int, ...],
        ids: Any = None,
    ) -> Any:
        del ids  # rows are padded with zeros, which add nothing
        rank = len(shapes[0])
        axes = tuple(sorted({a % rank for a in self.axes})) if self.axes else ()
        self._require_equal_rest(shapes, axes)
        over = (0, *(a + 1 for a in axes))
        if self.op is ReduceOp.SUM:
            kept = np.int32 if stacked.dtype == np.bool_ else stacked.dtype
            return jnp.sum(stacked, axis=over, dtype=kept)
        if len(counts) == 1:
            counts = (stacked.shape[0],)
        elements = sum(
            count * math.prod(shape[a] for a in axes)
            for count, shape in zip(counts, shapes, strict=True)
        )
        total = jnp.sum(stacked, axis=over, dtype=_wide(stacked.dtype))
        if not jnp.issubdtype(stacked.dtype, jnp.inexact):
            total = total.astype(mean_dtype(stacked.dtype))
        return (total / elements).astype(mean_dtype(stacked.dtype))

    def _require_equal_rest(self, shapes: tuple[Shape, ...], axes: Shape) -> None:
        rests = {
            tuple(n for i, n in enumerate(shape) if i not in axes) for shape in shapes
        }
        if len(rests) > 1:
            seen = ", ".join(str(shape) for shape in shapes)
            msg = (
                f"reduce with axis={self.axes} of values of different shapes ({seen}); "
                f"name the axis in which they differ, e.g. axis=0 for the batch"
            )
            raise ValueError(msg)


@dataclasses.dataclass(frozen=True)
class _Gathering(_Joining):
    """The rows of all replicas, one after the other."""

    axis: int

    @property
    def label(self) -> str:
        return f"gather along axis {self.axis}"

    def check(self, shape: Shape) -> None:
        if not -len(shape) <= self.axis < len(shape):
            msg = (
                f"gather along axis {self.axis} of a value of shape {shape} on each "
                f"replica, which has no such axis"
            )
            raise ValueError(msg)

    def takes(self, value: PerReplica) -> bool:
        return not value.on_host

    def on_host(self, value: PerReplica, topology: Topology) -> Any:
        parts = [np.asarray(v) for v in value.values]
        for part in parts:
            self.check(part.shape)
        if topology.agreement is not None:
            mine = base64.b64encode(pickle.dumps(parts)).decode()
            told = topology.agreement.exchange(written(self.label), mine)
            # They are processes of this program, and have read no others' data.
            parts = [p for t in told for p in pickle.loads(base64.b64decode(t))]  # noqa: S301
        return np.concatenate(parts, self.axis)

    def of_rows(
        self,
        stacked: Any,
        shapes: tuple[Shape, ...],
        counts: tuple[int, ...],
        ids: Any = None,
    ) -> Any:
        axis = self.axis % len(shapes[0])
        self._require_equal_rest(shapes, axis)
        rows = jnp.moveaxis(stacked, axis + 1, 1)
        lengths = [shape[axis] for shape in shapes]
        if len(counts) == 1:
            joined = rows.reshape((-1, *rows.shape[2:])) if rows.size else rows[0][:0]
        else:
            total = sum(n * c for n, c in zip(lengths, counts, strict=True))
            mine = jnp.asarray(lengths, np.int32)[ids]
            ends = jnp.cumsum(mine)
            places = jnp.arange(total, dtype=np.int32)
            replica = jnp.searchsorted(ends, places, side="right")
            joined = rows[replica, places - (ends - mine)[replica]]
        return jnp.moveaxis(joined, 0, axis)

    def _require_equal_rest(self, shapes: tuple[Shape, ...], axis: int) -> None:
        if len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) > 1:
            seen = ", ".join(str(shape) for shape in shapes)
            msg = (
                f"gather along axis {self.axis} of values of shapes {seen}; they may "
                f"differ in the length of that axis only"
            )
            raise InvalidArgumentError(msg)


@dataclasses.dataclass(frozen=True)
class _Between:
    """A joining, as an operation between replicas in a program."""

    joining: _Joining

    def replay(self, classes: Classes, operands: Sequence[Any]) -> list[Any]:
        (operand,) = operands
        if isinstance(operand, Spread):
            stacked, shapes = operand.stacked, operand.shapes
        else:  # computed by the function itself: of one shape
            stacked, shapes = operand, (operand.shape[1:],) * len(classes.counts)
        for shape in shapes:
            self.joining.check(shape)
        return [self.joining.of_rows(stacked, shapes, classes.counts, classes.ids)]


def _wide(dtype: Any) -> Any:
    """A type that holds the sum of small numbers, of which the mean is taken."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return jnp.promote_types(dtype, jnp.float32)
    return jnp.promote_types(dtype, jnp.int32)


def _is_on_host(value: Any) -> bool:
    return not host.is_array(value) and not host.is_number(value)


def _brief(value: Any) -> str:
    if host.is_array(value):
        return f"an array of {np.dtype(value.dtype).name}{list(value.shape)}"
    return repr(value)
