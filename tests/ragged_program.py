"""Runs a step on replicas with different numbers of rows, in one compiled program."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from replax._src.core.jax_compat import axis_bound, register_internal_frames
from replax._src.execution.ragged import merge
from replax._src.replica.collectives import all_gather_p, all_reduce_p
from replax._src.topology.topology import REPLICA_AXIS

# Places in errors are those of the test, as they are those of a user of replax.
register_internal_frames(__file__)


class Meeting:
    """The collectives that a step calls, for a number of replicas or for one device."""

    def __init__(self, rows):
        self.num_replicas = len(rows)
        self.total = sum(rows)
        self.alone = len(rows) == 1

    def sum(self, *operands):
        if self.alone:
            return operands
        return tuple(all_reduce_p.bind(*operands, num_replicas=self.num_replicas))

    def gather(self, x, axis=0, total=None):
        if self.alone:
            return x
        return all_gather_p.bind(
            x,
            axis=axis,
            size=x.shape[axis],
            total=self.total if total is None else total,
            num_replicas=self.num_replicas,
        )


def classes_of(rows):
    """The distinct numbers of rows, and how many replicas have each."""
    sizes = sorted(set(rows), reverse=True)
    return sizes, [rows.count(size) for size in sizes]


def trace(step, rows, shared, local):
    """Traces ``step(meeting, shared, *parts)`` for each distinct number of rows.

    ``local`` are the whole arrays whose rows are dealt out.
    """
    meeting = Meeting(rows)
    sizes, counts = classes_of(rows)
    steps = []
    for size in sizes:
        parts = [jax.ShapeDtypeStruct((size, *x.shape[1:]), x.dtype) for x in local]

        def flat(shared, *parts):
            return jax.tree.leaves(step(meeting, shared, *parts))

        with axis_bound(REPLICA_AXIS, len(rows)), jax.make_user_context()(object()):
            steps.append(jax.make_jaxpr(flat)(shared, *parts))
    return steps, counts


class RaggedProgram:
    """The compiled program for a set of shapes."""

    def __init__(self, step, rows, shared, local):
        steps, counts = trace(step, rows, shared, local)
        self.sizes, _ = classes_of(rows)
        self.merged = merge(steps, counts, len(rows))
        mesh = Mesh(np.array(jax.devices()[: len(rows)]), (REPLICA_AXIS,))

        def replica(class_ids, shared, *parts):
            own = class_ids[lax.axis_index(REPLICA_AXIS)]
            leaves = jax.tree.leaves(shared)
            outs = self.merged(own, class_ids, *leaves, *(x[0] for x in parts))
            return [out[None] for out in outs]

        self.program = jax.jit(
            jax.shard_map(
                replica,
                mesh=mesh,
                in_specs=(P(), P(), *[P(REPLICA_AXIS)] * len(local)),
                out_specs=P(REPLICA_AXIS),
                check_vma=False,
            )
        )

    def arguments(self, rows, shared, local):
        class_ids = jnp.array([self.sizes.index(n) for n in rows], jnp.int32)
        ends = np.cumsum(rows)
        parts = []
        for x in local:
            dealt = np.zeros((len(rows), max(rows), *x.shape[1:]), x.dtype)
            for i, n in enumerate(rows):
                dealt[i, :n] = x[ends[i] - n : ends[i]]
            parts.append(dealt)
        return class_ids, shared, *parts

    def padded(self, rows, shared, local):
        """The outputs as they come: stacked over replicas, with padding."""
        return jax.block_until_ready(self.program(*self.arguments(rows, shared, local)))

    def __call__(self, rows, shared, local):
        """For each replica, its outputs in their true shapes."""
        outs = [np.asarray(out) for out in self.padded(rows, shared, local)]
        result = []
        for replica, n in enumerate(rows):
            shapes = [s[self.sizes.index(n)] for s in self.merged.out_shapes]
            result.append(
                [
                    out[replica][tuple(slice(0, size) for size in shape)]
                    for out, shape in zip(outs, shapes, strict=True)
                ]
            )
        return result


def run_ragged(step, rows, shared, local):
    """The outputs of each replica."""
    return RaggedProgram(step, rows, shared, local)(rows, shared, local)


def run_alone(step, shared, local):
    """The outputs of one device that has all rows."""
    meeting = Meeting([len(local[0])])
    outs = jax.jit(lambda *args: jax.tree.leaves(step(meeting, *args)))(shared, *local)
    return [np.asarray(out) for out in outs]
