"""Any number of rows, on any devices and processes, trains as on one device."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Generator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax.data import Dataset, Options
from replax.data.experimental import AutoShardPolicy
from replax.testing import run_processes

# Batches that do not divide, and replicas without a row: of one row, on many devices,
# all but one have none.
ROWS = (65, 33, 31, 1)
BATCH, WIDTH, EPOCHS = 32, 4, 2
POLICIES = ("DATA", "AUTO")
# Programs are kept, so not all of these compile.
FIRST = (POLICIES[0], ROWS[0])
RATE = 0.05
TOLERANCES = {"float32": (1e-5, 1e-6), "float64": (1e-12, 1e-12)}

# Each place starts processes, which takes time: CONTRIBUTING.md says how to run all.
ALL = [(p, d) for p in (1, 2, 3) for d in (1, 2, 3, 5)]
FEW = [(2, 2), (3, 1), (1, 3)]
PLACES = ALL if "REPLAX_ALL_PLACES" in os.environ else FEW

Results = dict[str, Any]


def rows(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(n)
    x = random.normal(size=(n, WIDTH)).astype(dtype)
    return x, (x.sum(1) + random.normal(size=n)).astype(dtype)


def first_weights(dtype: str) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {
        "in": random.normal(size=(WIDTH, 3)).astype(dtype),
        "out": random.normal(size=3).astype(dtype),
    }


def forward(weights: Any, x: Any, total: Any) -> tuple[Any, Any]:
    """A layer that is normalised by the mean and the variance of the whole batch."""
    hidden = jnp.tanh(x @ weights["in"])
    count = total(jnp.asarray(x.shape[0], x.dtype))
    mean = total(hidden.sum(0)) / count
    variance = total(((hidden - mean) ** 2).sum(0)) / count
    normal = (hidden - mean) / jnp.sqrt(variance + 1e-3)
    return normal @ weights["out"], (count, mean, variance)


def loss_of(weights: Any, x: Any, y: Any, total: Any) -> tuple[Any, Any]:
    predicted, moments = forward(weights, x, total)
    errors = predicted - y
    return (errors**2).sum() / moments[0], (jnp.abs(errors).sum(), moments)


def on_one_device(n: int, dtype: str) -> Results:
    """What JAX makes of whole batches, without a word of strategies."""
    alone = lambda part: part  # noqa: E731
    gradient_of = jax.jit(
        lambda w, x, y: jax.value_and_grad(loss_of, has_aux=True)(w, x, y, alone)
    )
    weights: Any = first_weights(dtype)
    x, y = rows(n, dtype)
    steps: list[Any] = []
    absolute: Any = 0.0
    for _ in range(EPOCHS):
        for i in range(0, n, BATCH):
            found = gradient_of(weights, x[i : i + BATCH], y[i : i + BATCH])
            (loss, (part, moments)), gradient = found
            steps.append((loss, gradient, moments[1:]))
            weights = jax.tree.map(lambda w, g: w - RATE * g, weights, gradient)
            absolute += part
    batches = [x[i : i + BATCH] for i in range(0, n, BATCH)]
    predicted = [forward(weights, batch, alone)[0] for batch in batches]
    return {
        "steps": jax.tree.map(np.asarray, steps),
        "weights": jax.tree.map(np.asarray, weights),
        "absolute": np.asarray(absolute),
        "seen": n * EPOCHS,
        "predicted": np.concatenate(predicted),
        "rows": x,
    }


class Trainer:
    """Trains on the replicas of this group, with one set of variables for all."""

    def __init__(self, strategy: Any, dtype: str) -> None:
        self.strategy, self.dtype = strategy, dtype
        on_read: dict[str, Any] = {
            "synchronization": replax.VariableSynchronization.ON_READ,
            "aggregation": replax.VariableAggregation.SUM,
        }
        with strategy.scope():
            self.weights = replax.Variable(first_weights(dtype))
            self.absolute = replax.Variable(np.zeros((), dtype), **on_read)
            self.seen = replax.Variable(np.int32(0), **on_read)
        self.train = replax.function(self.train_step)
        self.predict = replax.function(self.predict_step)

    def on_replica(self, x: Any, y: Any) -> Any:
        old = self.weights.read_value()
        compute = jax.value_and_grad(loss_of, has_aux=True)
        (loss, (part, moments)), gradient = compute(old, x, y, total)
        loss, gradient = total((loss, gradient))
        new = jax.tree.map(lambda w, g: w - RATE * g, old, gradient)
        self.weights.assign(new)
        self.absolute.assign_add(part)
        self.seen.assign_add(jnp.int32(x.shape[0]))
        return loss, gradient, moments[1:]

    def train_step(self, x: Any, y: Any) -> Any:
        found = self.strategy.run(self.on_replica, args=(x, y))
        return self.strategy.reduce("MEAN", found, axis=None)

    def predict_step(self, x: Any) -> Any:
        def on_replica(x: Any) -> Any:
            return forward(self.weights.read_value(), x, total)[0]

        return self.strategy.run(on_replica, args=(x,))

    def results(self, n: int, policy: str) -> Results:
        """What two epochs of so many rows make of the first weights."""
        self.weights.assign(first_weights(self.dtype))
        self.absolute.assign(0.0)
        self.seen.assign(0)
        options = Options()
        options.experimental_distribute.auto_shard_policy = AutoShardPolicy[policy]
        dataset = Dataset.from_tensor_slices(rows(n, self.dtype)).batch(BATCH)
        distributed = self.strategy.experimental_distribute_dataset(
            dataset.with_options(options)
        )
        compiled: list[list[str]] = []
        steps: list[Any] = []
        for _ in range(EPOCHS):
            with programs_compiled() as names:
                steps += [self.train(x, y) for x, y in distributed]
            compiled.append(names)
        gather = self.strategy.gather
        predicted = [gather(self.predict(x), axis=0) for x, _ in distributed]
        return {
            "steps": jax.tree.map(np.asarray, steps),
            "weights": self.weights.numpy(),
            "absolute": self.absolute.numpy(),
            "seen": int(self.seen.numpy()),
            "predicted": np.concatenate(predicted),
            "rows": np.concatenate([gather(x, axis=0) for x, _ in distributed]),
            "compiled": compiled,
        }


def total(part: Any) -> Any:
    context: Any = replax.distribute.get_replica_context()
    return context.all_reduce("SUM", part)


@contextlib.contextmanager
def programs_compiled() -> Generator[list[str]]:
    """The names of what XLA compiles meanwhile."""
    names: list[str] = []

    def listen(event: str, duration_secs: float, **kwargs: Any) -> None:
        del duration_secs
        if event.endswith("backend_compile_duration"):
            names.append(str(kwargs.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


def on_a_process() -> dict[Any, Results]:
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    found: dict[Any, Results] = {}
    for dtype in TOLERANCES:
        jax.config.update("jax_enable_x64", dtype == "float64")
        trainer = Trainer(strategy, dtype)
        for n in ROWS:
            for policy in POLICIES:
                found[n, dtype, policy] = trainer.results(n, policy)
    return found


@functools.cache
def of_processes(processes: int, devices: int) -> list[dict[Any, Results]]:
    ran = run_processes(processes, on_a_process, devices=devices, timeout=900)
    return ran.values


@pytest.mark.parametrize(("processes", "devices"), PLACES)
def test_any_number_of_rows_trains_as_on_one_device(
    processes: int, devices: int
) -> None:
    everywhere = of_processes(processes, devices)
    for dtype, (rtol, atol) in TOLERANCES.items():
        for n in ROWS:
            with jax.enable_x64(dtype == "float64"):
                expected = on_one_device(n, dtype)
            for policy in POLICIES:
                for found in everywhere:
                    got = found[n, dtype, policy]
                    for name, wanted in expected.items():
                        about = functools.partial(
                            np.testing.assert_allclose,
                            rtol=rtol,
                            atol=atol,
                            err_msg=f"{name} of {n} rows, {dtype}, {policy}",
                        )
                        jax.tree.map(about, got[name], wanted)
                    assert got["predicted"].dtype == dtype
                    # A program for each set of local shapes, in the first epoch.
                    first, *later = got["compiled"]
                    assert (policy, n) != FIRST or "jit(flat)" in first
                    assert first.count("jit(flat)") <= 3, first
                    assert later == [[]] * (EPOCHS - 1)
                    np.testing.assert_array_equal(
                        got["weights"]["in"],
                        everywhere[0][n, dtype, policy]["weights"]["in"],
                    )
