"""A batch on the devices of the replicas.

It is put there like a step of a distributed dataset: a leading axis for the replicas,
of which each gets ``ceil(n / replicas)`` rows, the last ones fewer and padded. In the
compiled step the padding is cut off again before anything is computed, and the rows
stay where they are: inside of a program shards may be uneven, with 32 bits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from replax._src.core import host, jax_compat
from replax._src.dataset.structure import leaf_names
from replax._src.input.split import part_length, parts
from replax._src.topology.placement import replicated
from replax._src.topology.topology import Topology
from replax._src.values.distributed import PerReplica
from replax._src.values.handle import is_handle

__all__ = ["Batch", "Form"]


@dataclasses.dataclass(frozen=True)
class Form:
    """How a batch is made of its arrays; a program is compiled for each form.

    Attributes:
      treedef: The structure of the batch.
      lengths: For each array how many rows each replica has; None if the array is not
        split.
    """

    treedef: jax.tree_util.PyTreeDef
    lengths: tuple[tuple[int, ...] | None, ...]

    def joined(self, arrays: Sequence[Any], topology: Topology) -> Any:
        """The batch, in a program that is being traced."""
        leaves = [
            array if lengths is None else _joined(array, lengths, topology)
            for array, lengths in zip(arrays, self.lengths, strict=True)
        ]
        return self.treedef.unflatten(leaves)


@final
class Batch:
    """A batch on the devices of the replicas.

    Keras's loops take it from their data and give it to the step as it is: to
    ``jax.device_put`` it is a tree without leaves.

    Args:
      arrays: The arrays.
      form: What they are.
    """

    __slots__ = ("arrays", "form")

    def __init__(self, arrays: Sequence[Any], form: Form) -> None:
        self.arrays = arrays
        self.form = form

    @classmethod
    def placed(cls, value: Any, topology: Topology) -> Batch:
        """A batch from the host; every process is given all of its rows."""
        leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=_is_sparse)
        lengths: list[tuple[int, ...] | None] = []
        ready: list[Any] = []
        for position, leaf in enumerate(leaves):
            if topology.is_single or _is_sparse(leaf):
                lengths.append(None)
                ready.append(leaf)
            else:
                rows = _rows(leaf, treedef, position)
                replicas = topology.num_replicas
                lengths.append(
                    tuple(end - start for start, end in parts(len(rows), replicas))
                )
                ready.append(_stacked(rows, topology))
        if topology.agreement is not None:
            arrays = [
                replicated(value, topology) if n is None else _local(value, topology)
                for value, n in zip(ready, lengths, strict=True)
            ]
            return cls(arrays, Form(treedef, tuple(lengths)))
        # One call for all: most of what it costs does not depend on how many there are.
        shardings = [
            topology.replicated if n is None else topology.stacked for n in lengths
        ]
        arrays = jax.device_put(ready, shardings)
        return cls(arrays, Form(treedef, tuple(lengths)))

    @classmethod
    def of_step(cls, value: Any, topology: Topology) -> Batch:
        """A step of a distributed dataset, whose rows are where they stay."""
        if topology.is_single:
            return cls.placed(value, topology)
        leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=is_handle)
        arrays: list[Any] = []
        lengths: list[tuple[int, ...]] = []
        for position, leaf in enumerate(leaves):
            if not isinstance(leaf, PerReplica) or leaf.on_host:
                raise _no_numbers(leaf, treedef, position)
            stacked, shapes = leaf.stack(topology, "a batch")
            if len({shape[1:] for shape in shapes}) > 1 or not shapes[0]:
                msg = (
                    f"the replicas' parts of a batch have the shapes "
                    f"{', '.join(map(str, shapes))}, which make no common batch; give "
                    f"them shapes that differ in the number of rows only"
                )
                raise ValueError(msg)
            arrays.append(stacked)
            lengths.append(tuple(shape[0] for shape in shapes))
        return cls(arrays, Form(treedef, tuple(lengths)))


# Keras maps `jax.device_put` over batches when it looks one ahead.
jax.tree_util.register_pytree_node(Batch, lambda b: ((), b), lambda b, _: b)


def _is_sparse(leaf: Any) -> bool:
    """Whether it is a matrix of its nonzero elements, which has no rows to split."""
    return hasattr(leaf, "todense")


def _rows(leaf: Any, treedef: Any, position: int) -> np.ndarray:
    array = np.asarray(leaf)
    if not host.is_array(array):
        raise _no_numbers(leaf, treedef, position)
    if not array.ndim:
        name = leaf_names(treedef)[position]
        msg = (
            f"a batch holds the single value {leaf!r}{' in ' + name if name else ''}, "
            f"which cannot be split over replicas; batches have their rows along the "
            f"first axis: call batch(n) on the dataset"
        )
        raise ValueError(msg)
    dtype = jax.dtypes.canonicalize_dtype(array.dtype)
    if dtype != array.dtype:
        array = host.canonical(array, f"a batch, in {leaf_names(treedef)[position]}")
    return array


def _no_numbers(leaf: Any, treedef: Any, position: int) -> TypeError:
    name = leaf_names(treedef)[position]
    kind = getattr(leaf, "dtype", type(leaf).__name__)
    return TypeError(
        f"a batch holds {kind}{' in ' + name if name else ''}, and models compute with "
        f"arrays of numbers; convert it before, in dataset.map"
    )


def _stacked(rows: np.ndarray, topology: Topology) -> np.ndarray:
    """The rows with a leading axis for the replicas, the last ones padded."""
    replicas = topology.num_replicas
    length = part_length(len(rows), replicas)
    if len(rows) < length * replicas:
        padded = np.zeros((length * replicas, *rows.shape[1:]), rows.dtype)
        padded[: len(rows)] = rows
        rows = padded
    return rows.reshape(replicas, length, *rows.shape[1:])


def _local(stacked: np.ndarray, topology: Topology) -> jax.Array:
    """The parts of this process's replicas, as a piece of the whole."""
    parts = [stacked[i : i + 1] for i in topology.local_replicas]
    return jax.make_array_from_single_device_arrays(
        stacked.shape,
        topology.stacked,
        jax.device_put(parts, list(topology.local_devices)),
    )


def _joined(stacked: Any, lengths: tuple[int, ...], topology: Topology) -> Any:
    """The rows of all replicas, one after the other, still on their replicas.

    With 64 bits, as TensorFlow's names switch them on, uneven rows are brought to all
    of them: XLA aborts the process when it splits a scatter by indices of ``int64``,
    which the gradient of an embedding is, into uneven shards.
    """
    replicas, longest, *rest = stacked.shape
    total = sum(lengths)
    split = tuple(stop - start for start, stop in parts(total, replicas))
    if lengths == split:
        rows = stacked.reshape(replicas * longest, *rest)[:total]
    else:
        rows = jnp.concatenate([stacked[i, :n] for i, n in enumerate(lengths)])
    is_safe = total % replicas == 0 or not jax_compat.x64.value
    sharding: Any = topology.stacked if is_safe else topology.replicated
    return lax.with_sharding_constraint(rows, sharding)
