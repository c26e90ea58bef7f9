"""Variables of which each replica has its own, brought together when they are read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.cluster.agreement import Agreement, written
from replax._src.core import host, jax_compat
from replax._src.replica import collectives, scope
from replax._src.replica.scope import HostValueError
from replax._src.topology import window
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues
from replax._src.values.storage import Leaves
from replax._src.values.variable import Update, Variable, replaced, updated
from replax._src.values.vocabulary import VariableAggregation

__all__ = ["SyncOnReadVariable"]


@final
class SyncOnReadVariable(Variable, DistributedValues):
    """A variable that is local in a step, and one value between steps."""

    _parts_differ = True

    @property
    def values(self) -> tuple[Any, ...]:
        """What each of this process's replicas has."""
        frame = scope.current_frame()
        if frame is not None:
            rows = self._rows(frame)
            if self.topology.agreement is not None:
                msg = f"it looks at the replicas' values of variable {self.name!r}"
                raise HostValueError(msg)
            return tuple(
                self._treedef.unflatten([x[i] for x in rows])
                for i in range(self.topology.num_replicas)
            )
        self._store.exposed = True
        return tuple(
            self._treedef.unflatten(map(host.free, part))
            for part in self._store.parts()
        )

    # --- reading ----------------------------------------------------------------

    def _seen_in_frame(self, frame: scope.Frame) -> Leaves:
        place = scope.current()
        if frame.per_replica and place is not None and place.replica is not None:
            return frame.read(self)
        return tuple(self._together(x) for x in self._rows(frame))

    def _rows(self, frame: scope.Frame) -> Leaves:
        """The leaves of all replicas, on a leading axis."""
        leaves = frame.read(self)
        if not frame.per_replica:
            return leaves
        # Between the replicas of one step: what merge_call's function sees.
        count = self.topology.num_replicas
        return tuple(
            collectives.all_gather_p.bind(
                x[None], axis=0, size=1, total=count, num_replicas=count
            )
            for x in leaves
        )

    def _seen_across(self) -> Leaves:
        if self.topology.agreement is not None:
            return self._seen_across_processes(self.topology.agreement)
        parts = self._store.parts()
        home = self.topology.local_devices[0]
        columns = zip(*parts, strict=True)
        stacks = [jnp.stack([jax.device_put(x, home) for x in c]) for c in columns]
        return tuple(jax_compat.uncommitted(self._together(x)) for x in stacks)

    def _seen_across_processes(self, agreement: Agreement) -> Leaves:
        self._require_one_value()
        kinds = [(self.name, f"{s.dtype}{list(s.shape)}") for s in self.specs]
        agreement.enter(written("reading a variable that is local in steps", kinds))
        wholes, token = _reading_program(self._aggregation, self.topology)(
            self._store.join()
        )
        if self.topology.is_cpu:
            window.admit(token)
        return tuple(jax_compat.uncommitted(x.addressable_data(0)) for x in wholes)

    def _together(self, rows: jax.Array) -> jax.Array:
        """One value from the replicas' values, stacked on a leading axis."""
        self._require_one_value()
        return _joined(rows, self._aggregation)

    def _require_one_value(self) -> None:
        if self._aggregation is VariableAggregation.NONE:
            msg = (
                f"variable {self._name!r} has a value on each replica and no "
                f"aggregation, so it has no one value outside of a step; give it "
                f"aggregation=SUM, MEAN or ONLY_FIRST_REPLICA, or look at the "
                f"parts with strategy.experimental_local_results(variable)"
            )
            raise ValueError(msg)

    # --- writing ----------------------------------------------------------------

    def _update_in_replica(
        self, value: Any, leaves: Leaves, update: Update, verb: str, place: scope.Place
    ) -> None:
        del value, verb
        frame = scope.current_frame()
        if frame is not None:
            frame.write(self, updated(frame.read(self), leaves, update))
            return
        assert place.index is not None
        old = self._store.part(place.index)
        place.exchange.write(self, updated(old, leaves, update))

    def _update_across(self, leaves: Leaves, update: Update, verb: str) -> None:
        summed = self._aggregation is VariableAggregation.SUM
        if summed and update is not replaced:
            msg = (
                f"{verb} of variable {self._name!r} between steps: its value is the "
                f"sum over the replicas, and it is not said which of them should "
                f"change; use assign, or {verb} inside of a step"
            )
            raise ValueError(msg)
        frame = scope.current_frame()
        rows = [_shares(x, self.topology.num_replicas, summed=summed) for x in leaves]
        if frame is not None:
            self._update_frame(frame, rows, update)
            return
        for index, replica in enumerate(self.topology.local_replicas):
            device = self.topology.local_devices[index]
            new = tuple(jax.device_put(x[replica], device) for x in rows)
            self._store.set_part(index, updated(self._store.part(index), new, update))

    def _update_frame(
        self, frame: scope.Frame, rows: list[jax.Array], update: Update
    ) -> None:
        if frame.per_replica:
            count = self.topology.num_replicas
            me = collectives.replica_id_p.bind(num_replicas=count)
            rows = [x[me] for x in rows]
        frame.write(self, updated(frame.read(self), rows, update))

    def __repr__(self) -> str:
        return self._shown_by_replica()


def _joined(rows: jax.Array, aggregation: VariableAggregation) -> jax.Array:
    if aggregation is VariableAggregation.SUM:
        return rows.sum(0, dtype=rows.dtype)
    return rows.mean(0) if aggregation is VariableAggregation.MEAN else rows[0]


@functools.cache
def _reading_program(
    aggregation: VariableAggregation, topology: Topology
) -> Callable[[Leaves], tuple[Leaves, jax.Array]]:
    def read(wholes: Leaves) -> tuple[Leaves, jax.Array]:
        values = tuple(_joined(rows, aggregation) for rows in wholes)
        return values, jnp.zeros((), jnp.int32)

    return jax.jit(read, out_shardings=topology.replicated)


def _shares(leaf: Any, count: int, *, summed: bool) -> jax.Array:
    """What each replica gets of an assigned value: a share of a sum, or a copy."""
    leaf = jnp.asarray(leaf)
    if not summed or leaf.dtype == jnp.bool_:
        return jnp.broadcast_to(leaf, (count, *leaf.shape))
    if jnp.issubdtype(leaf.dtype, jnp.inexact):
        return jnp.broadcast_to(leaf / count, (count, *leaf.shape))
    # Whole numbers are not divided evenly: the first replica keeps what is left over.
    share = leaf // np.asarray(count, leaf.dtype)
    rest = leaf - share * np.asarray(count, leaf.dtype)
    rows = jnp.broadcast_to(share, (count, *leaf.shape))
    return rows.at[0].add(rest)
