"""The steps of Keras's loops, compiled for the replicas."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from replax._src.cluster.agreement import written
from replax._src.core.jax_compat import uncommitted
from replax._src.keras import internals
from replax._src.keras.batch import Batch, Form
from replax._src.keras.keeping import note, noting
from replax._src.topology import window
from replax._src.topology.placement import replicated
from replax._src.topology.topology import Topology

__all__ = ["local_copy", "predict_function", "test_function", "train_function"]


def train_function(model: Any, topology: Topology) -> Any:
    """What ``fit`` calls for each execution."""
    step = _step(model, model.train_step, topology)
    return noting(model, internals.make_function(model, step))


def test_function(model: Any, topology: Topology) -> Any:
    """What ``evaluate`` calls for each execution."""
    step = _step(model, model.test_step, topology)
    return noting(model, internals.make_function(model, step))


def predict_function(model: Any, topology: Topology) -> Any:
    """What ``predict`` calls for each execution."""

    def predict_step(state: Any, data: Any) -> Any:
        outputs, non_trainable = model.predict_step(state, data)
        return jax.tree.map(lambda x: _readable(x, topology), outputs), (
            state[0],
            non_trainable,
        )

    step = _step(model, predict_step, topology, is_prediction=True)
    return noting(model, internals.make_function(model, step, concatenates=True))


def _step(
    model: Any,
    function: Callable[[Any, Any], Any],
    topology: Topology,
    *,
    is_prediction: bool = False,
) -> Callable[[Any, Any], Any]:
    if model.jit_compile and not model.run_eagerly:
        keep = functools.partial(note, model)
        return _CompiledStep(function, topology, keep, is_prediction=is_prediction)
    return noting(model, _EagerStep(function, topology))


class _CompiledStep:
    """A step over a batch, as one program for all replicas.

    The program computes what it would compute on one device: losses, metrics and
    statistics are those of the whole batch. XLA splits the work by the rows.
    """

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        topology: Topology,
        keep: Callable[[Any], None],
        *,
        is_prediction: bool,
    ) -> None:
        self._function = function
        self._topology = topology
        self._keep = keep
        whole = NamedSharding(topology.mesh, PartitionSpec())
        self._program: Any = jax.jit(
            self._traced,
            static_argnums=0,
            donate_argnums=1,
            out_shardings=(
                None if is_prediction else whole,
                whole,
                whole,
            ),
        )
        self._is_counted = topology.is_cpu and not topology.is_single

    def _traced(self, form: Form, state: Any, arrays: Sequence[Any]) -> Any:
        batch = form.joined(arrays, self._topology)
        outputs, state = self._function(state, batch)
        return outputs, state, jnp.zeros((), jnp.int32)

    def __call__(self, state: Any, data: Any) -> Any:
        """Outputs and the new state; the memory of the old one is used for it."""
        self._keep(state)
        if not isinstance(data, Batch):
            data = Batch.placed(data, self._topology)
        agreement = self._topology.agreement
        if agreement is not None:
            kinds = [("the batch", f"{x.dtype}{list(x.shape)}") for x in data.arrays]
            sizes = f"rows {data.form.lengths}"
            agreement.enter(written(f"a step of a Keras model, {sizes}", kinds))
            state = jax.tree.map(self._everywhere, state)
        made: list[Any] = []
        try:
            with self._topology.step():
                # Called and kept by C, so that Ctrl-C comes before or after both: the
                # memory of the old state is gone when the program has been called.
                given = (data.form, state, data.arrays)
                made.extend(itertools.starmap(self._program, (given,)))
                ((outputs, state, token),) = made
                self._keep(state)
                if self._is_counted:
                    window.admit(token)
        except BaseException:
            for _, state, _ in made:
                self._keep(state)
            raise
        return outputs, state

    def _everywhere(self, value: jax.Array) -> jax.Array:
        """A variable's value, of which each process may have a copy of its own."""
        if not value.is_fully_addressable:
            return value
        return replicated(value, self._topology)


class _EagerStep:
    """A step that is not compiled: every replica computes the whole batch.

    It is for looking at what a model does. No operation brings replicas together, so
    that there is nothing to be counted.
    """

    def __init__(self, function: Callable[[Any, Any], Any], topology: Topology) -> None:
        self._function = function
        self._topology = topology

    def __call__(self, state: Any, data: Any) -> Any:
        if isinstance(data, Batch):
            data = _whole(data, self._topology)
        if self._topology.agreement is None:
            data = jax.device_put(data, self._topology.replicated)
        return self._function(state, data)


def _whole(batch: Batch, topology: Topology) -> Any:
    joined = jax.jit(
        lambda arrays: batch.form.joined(arrays, topology),
        out_shardings=topology.replicated,
    )
    whole = jax.block_until_ready(joined(batch.arrays))
    return whole if topology.agreement is None else jax.tree.map(local_copy, whole)


def local_copy(array: jax.Array) -> jax.Array:
    """This process's copy of what all processes have."""
    if array.is_fully_addressable:
        return array
    return uncommitted(array.addressable_data(0))


def _readable(output: Any, topology: Topology) -> Any:
    """An output as every process can read it, split by rows where that is possible."""
    rows = output.shape[0] if output.ndim else 1
    splits = rows % topology.num_replicas == 0 and topology.agreement is None
    spec = PartitionSpec(*topology.mesh.axis_names) if splits else PartitionSpec()
    return lax.with_sharding_constraint(output, NamedSharding(topology.mesh, spec))
