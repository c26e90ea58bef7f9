"""Variables of Keras in a step that runs on replicas.

A step runs in a scope of Keras's in which variables are read and written elsewhere than
in Keras. During the step each replica has values of its own. When it is over they are
made one again, with one all-reduce: metrics are summed, statistics averaged, and what
an optimizer has applied is equal on all replicas, for gradients were summed. A replica
that has no rows at the end of the data has no statistics either, and does not count.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, final

import jax
import jax.core
import jax.numpy as jnp
import keras
from jax import lax

from replax._src.keras import internals
from replax._src.keras.distribution import distributed
from replax._src.keras.shadow import shadow_of
from replax._src.replica import scope
from replax._src.replica.replica_context import ReplicaContext
from replax._src.values.handle import is_handle

__all__ = ["install", "stepping"]


class _Running(threading.local):
    scope: ReplicaScope | None = None


_running = _Running()


@final
class ReplicaScope(keras.StatelessScope):
    """Keras's variables as the replica that runs a step sees them.

    Args:
      place: Where the step runs.
      has_rows: Whether the replica has been given any.
    """

    def __init__(self, place: scope.Place, *, has_rows: bool) -> None:
        super().__init__(initialize_variables=False)
        self._has_rows = has_rows
        self._topology = place.topology
        self._context: ReplicaContext = place.replica
        self._written: dict[int, Any] = {}
        self._applied: set[int] = set()
        self._is_applying = False

    def get_current_value(self, variable: Any) -> Any:
        """What the replica has of a variable."""
        key = id(variable)
        if key not in self.state_mapping:
            value = shadow_of(variable, self._topology).read_value()
            self.state_mapping[key] = self._own(variable, value)
        return self.state_mapping[key]

    def add_update(self, update: tuple[Any, Any]) -> None:
        """Replaces what the replica has of a variable."""
        variable, value = update
        if isinstance(value, jax.core.Tracer):
            # Statistics that a forward pass assigns have no gradient.
            value = lax.stop_gradient(value)
        self.state_mapping[id(variable)] = value
        self._written[id(variable)] = variable
        if self._is_applying or variable.trainable:
            self._applied.add(id(variable))
        else:
            self._applied.discard(id(variable))

    def _own(self, variable: Any, value: Any) -> Any:
        """A replica's own part of what all have together."""
        if self._topology.is_single:
            return value
        replica = self._context.replica_id_in_sync_group
        if internals.is_seed_state(variable):
            key = jax.random.wrap_key_data(value, impl="threefry2x32")
            other = jax.random.key_data(jax.random.fold_in(key, replica))
            return jnp.where(replica == 0, value, other)
        if variable.aggregation == "sum":
            # What is there already counts once.
            return jnp.where(replica == 0, value, jnp.zeros_like(value))
        return value

    # --- the end of a step ------------------------------------------------------

    def finish(self) -> None:
        """Makes the replicas' values one again."""
        applied = [v for k, v in self._written.items() if k in self._applied]
        others = [v for k, v in self._written.items() if k not in self._applied]
        values = [self.state_mapping[id(v)] for v in others]
        if not self._topology.is_single:
            values = self._joined(others, values)
        values += [self.state_mapping[id(v)] for v in applied]
        for variable, value in zip(others + applied, values, strict=True):
            shadow_of(variable, self._topology).assign(value)

    def _joined(self, variables: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        if not variables:
            return []
        first = self._context.replica_id_in_sync_group == 0
        shares: list[Any] = [jnp.float32(self._has_rows)]
        for variable, value in zip(variables, values, strict=True):
            array = jnp.asarray(value)
            if variable.aggregation == "sum":
                shares.append(array)
            else:
                counts = self._has_rows if _is_averaged(variable) else first
                shares.append(jnp.where(counts, array, jnp.zeros_like(array)))
        count, *sums = self._context.all_reduce("SUM", shares)
        return [
            (total / count if _is_averaged(variable) else total).astype(share.dtype)
            for variable, total, share in zip(variables, sums, shares[1:], strict=True)
        ]

    # --- optimizers -------------------------------------------------------------

    def apply(
        self,
        original: Callable[..., Any],
        optimizer: Any,
        grads: Any,
        trainable_variables: Any = None,
    ) -> Any:
        """Applies gradients that are summed over the replicas, once."""
        if self._is_applying:  # an optimizer around another one
            return original(optimizer, grads, trainable_variables)
        if not optimizer.built and trainable_variables is not None:
            with (
                internals.stateful(),
                jax.ensure_compile_time_eval(),
                distributed(self._topology),
            ):
                optimizer.build(list(trainable_variables))
        if not self._has_rows:
            # The statistics of no rows are no numbers, and neither are gradients that
            # go through them; what does not come from rows, such as a penalty, counts.
            grads = jax.tree.map(lambda g: jnp.where(jnp.isfinite(g), g, 0), grads)
        grads = self._context.all_reduce("SUM", grads)
        self._is_applying = True
        try:
            if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
                return _apply_without_state(optimizer, grads, trainable_variables)
            return original(optimizer, grads, trainable_variables)
        finally:
            self._is_applying = False


def _apply_without_state(optimizer: Any, grads: Any, trainable_variables: Any) -> None:
    """Applies scaled gradients: on JAX Keras knows no other way to skip some."""
    trainable = trainable_variables or optimizer.inner_optimizer.trainable_variables
    variables = [*trainable, *optimizer.variables]
    own, others = optimizer.stateless_apply(
        [v.value for v in optimizer.variables], grads, [v.value for v in trainable]
    )
    for variable, value in zip(variables, [*own, *others], strict=True):
        variable.assign(value)


def _is_averaged(variable: Any) -> bool:
    """Whether a variable holds statistics, of which the mean is taken."""
    is_float = jnp.issubdtype(jnp.dtype(variable.dtype), jnp.floating)
    return is_float and variable.aggregation in {"mean", "none"}


def _has_rows(arguments: Any) -> bool:
    """Whether a replica has been given rows, of what is given by rows."""
    # Variables are not given by rows, and strings of a compiled step show no length.
    leaves = jax.tree.leaves(arguments, is_leaf=is_handle)
    rows = [x for x in leaves if not is_handle(x) and getattr(x, "shape", ())]
    return all(x.shape[0] for x in rows)


def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A step with Keras's variables those of the replica that runs it."""

    # A layer may be a step: what it consists of is not to be copied.
    @functools.wraps(function, updated=())
    def step(*args: Any, **kwargs: Any) -> Any:
        place = scope.current()
        assert place is not None
        if place.topology.is_single and scope.current_frame() is None:
            return function(*args, **kwargs)  # the only replica's are Keras's own
        with _scope(place, has_rows=_has_rows((args, kwargs))) as variables:
            result = function(*args, **kwargs)
        variables.finish()
        return result

    return step


@contextlib.contextmanager
def _scope(place: scope.Place, *, has_rows: bool) -> Generator[ReplicaScope]:
    before = _running.scope
    with ReplicaScope(place, has_rows=has_rows) as variables:
        _running.scope = variables
        try:
            yield variables
        finally:
            _running.scope = before


def _applying(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        here = _running.scope
        if here is None:
            return original(self, grads, trainable_variables)
        return here.apply(original, self, grads, trainable_variables)

    return apply


@functools.cache
def install() -> None:
    """Makes optimizers sum gradients over replicas; only the first call does."""
    for optimizer in (keras.optimizers.Optimizer, keras.optimizers.LossScaleOptimizer):
        kind: Any = optimizer
        kind.apply = _applying(kind.apply)
