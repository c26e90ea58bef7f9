"""Variables that every replica has a copy of, all copies equal at all times."""

from __future__ import annotations

from typing import Any, final

import jax.numpy as jnp

from replax._src.core import host
from replax._src.replica import collectives, scope
from replax._src.topology.topology import Topology
from replax._src.values.distributed import DistributedValues
from replax._src.values.storage import Leaves
from replax._src.values.variable import Update, Variable, updated
from replax._src.values.vocabulary import VariableAggregation

__all__ = ["MirroredVariable"]


@final
class MirroredVariable(Variable, DistributedValues):
    """A variable with one copy on each replica; assignments keep them equal."""

    @property
    def values(self) -> tuple[Any, ...]:
        """The copies on this process's replicas."""
        frame = scope.current_frame()
        if frame is not None:
            seen = self._treedef.unflatten(frame.read(self))
            return (seen,) * len(self.topology.local_replicas)
        self._store.exposed = True
        return tuple(
            self._treedef.unflatten(map(host.free, part))
            for part in self._store.parts()
        )

    def _update_in_replica(
        self, value: Any, leaves: Leaves, update: Update, verb: str, place: scope.Place
    ) -> None:
        joined = self._joined(value, leaves, verb, place)
        frame = scope.current_frame()
        if frame is not None:
            frame.write(self, updated(frame.read(self), joined, update))
            return
        assert place.index is not None
        old = self._store.part(place.index)
        place.exchange.write(self, updated(old, joined, update))

    def _joined(
        self, value: Any, leaves: Leaves, verb: str, place: scope.Place
    ) -> Leaves:
        """One value from those of all replicas, as the aggregation says."""
        count = place.topology.num_replicas
        if self._aggregation is VariableAggregation.NONE:
            self._check_unreduced(leaves, place)
            return leaves
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            first = place.replica.replica_id_in_sync_group == 0
            numbers = [jnp.asarray(host.numbers_of(jnp.asarray(x))) for x in leaves]
            kept = [jnp.where(first, x, jnp.zeros_like(x)) for x in numbers]
            summed = _summed(kept, place.topology)
            return tuple(map(host.of_numbers, summed, leaves))
        if self._aggregation is VariableAggregation.MEAN:
            return tuple(x / count for x in _summed(leaves, place.topology))
        if not place.topology.is_only_local and _is_same(value, place):
            given = repr(value) if host.is_number(value) else "one array"
            msg = (
                f"{verb}({given}) of variable {self._name!r} by {count} replicas, "
                f"with aggregation SUM: should it count once or {count} times? Give "
                f"an array that is made in the step to have it summed over the "
                f"replicas, or assign outside of the step to do it once"
            )
            raise ValueError(msg)
        return _summed(leaves, place.topology)

    def _check_unreduced(self, leaves: Leaves, place: scope.Place) -> None:
        if place.may_diverge:
            return
        frame = scope.current_frame()
        if frame is not None:
            frame.check_unreduced(self, leaves)
        else:
            place.exchange.check_equal(self, leaves)

    def __repr__(self) -> str:
        return self._shown_by_replica()


def _is_same(value: Any, place: scope.Place) -> bool:
    """Whether all replicas have this number, or this very object."""
    if host.is_number(value):
        return place.exchange is None or place.exchange.is_same(value)
    frame = scope.current_frame()
    if frame is not None:
        return frame.is_one_object(value)
    return place.exchange.is_one_object(value)


def _summed(leaves: Any, topology: Topology) -> Leaves:
    arrays = [jnp.asarray(x) for x in leaves]
    counted = [x.astype(jnp.int32) if x.dtype == jnp.bool_ else x for x in arrays]
    summed = collectives.all_reduce(counted, topology)
    return tuple(s.astype(x.dtype) for s, x in zip(summed, arrays, strict=True))
