"""``run`` on one replica: a call, in the replica's context and on its device."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from replax._src.core.jax_compat import ArrayClass, axis_bound
from replax._src.execution.components import Components
from replax._src.execution.step_notes import note_unbound_axis
from replax._src.replica import scope
from replax._src.replica.randomness import RandomState
from replax._src.replica.replica_context import ReplicaContext
from replax._src.topology.topology import REPLICA_AXIS

__all__ = ["SingleRun", "run_single"]


class SingleRun:
    """How the context of an only replica reaches the others: there are none."""

    def __init__(self, place: scope.Place, random: RandomState) -> None:
        self._place = place
        self._random = random
        self._drawn: Any = None

    def merge(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Calls ``function`` between the replicas."""
        with scope.enter(self._place):
            return function(self._place.strategy, *args, **kwargs)

    def gather_total(self, size: int) -> int:
        """As many rows as there are."""
        return size

    def seed_and_step(self) -> jax.Array:
        """Seed and number of the step."""
        if self._drawn is None:
            frame: Any = scope.current_frame()
            self._drawn = (
                jnp.asarray(self._random.advance())
                if frame is None
                else frame.seed_and_step(self._random)
            )
        return self._drawn


def run_single(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    place: scope.Place,
    random: RandomState,
) -> Any:
    """Calls ``function`` once, with the only component of per-replica values."""
    device = place.topology.devices[0]
    traced = scope.current_frame() is not None

    def placed(array: Any) -> Any:
        if isinstance(array, ArrayClass):
            moves = array.committed and array.device != device and not traced
            return jax.device_put(array, device) if moves else array
        return jnp.asarray(array) if traced else jax.device_put(array, device)

    args, kwargs = Components(args, kwargs, 1).of(0, placed)
    run = SingleRun(place, random)
    context = ReplicaContext(place.strategy, place.topology, 0, run)
    here = dataclasses.replace(place, replica=context)
    with jax.default_device(device), scope.enter(here), _axis(traced=traced):
        try:
            return function(*args, **kwargs)
        except NameError as error:
            note_unbound_axis(error)
            raise


def _axis(*, traced: bool) -> contextlib.AbstractContextManager[None]:
    """The replica axis, for operations of ``jax.lax`` in a compiled step."""
    return axis_bound(REPLICA_AXIS, 1) if traced else contextlib.nullcontext()
