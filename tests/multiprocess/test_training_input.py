"""Training on two workers with two devices each, by what policy they share 103 rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax.data import Dataset, Options, TFRecordDataset
from replax.data.experimental import AutoShardPolicy
from replax.distribute import MirroredStrategy, MultiWorkerMirroredStrategy, Strategy
from replax.testing import run_processes

ROWS, WIDTH, BATCH, EPOCHS = 103, 3, 16, 2
POLICIES = ("FILE", "DATA", "OFF")


def rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(ROWS, WIDTH)).astype(np.float32)


def parsed(record: bytes) -> np.ndarray:
    return np.frombuffer(record, np.float32)


def train(strategy: Strategy, epochs: Iterable[Iterable[Any]]) -> Any:
    """The losses, the batches of all replicas together, and the weights."""
    with strategy.scope():
        weights = replax.Variable(jnp.zeros(WIDTH - 1))

    def step(x: Any) -> Any:
        context: Any = replax.distribute.get_replica_context()
        count = context.all_reduce("SUM", jnp.float32(x.shape[0]))

        def loss_of(w: Any) -> Any:
            return jnp.sum((x[:, :-1] @ w - x[:, -1]) ** 2) / count

        loss, gradient = jax.value_and_grad(loss_of)(weights.value())
        loss, gradient = context.all_reduce("SUM", (loss, gradient))
        weights.assign_sub(0.1 * gradient)
        return loss

    @replax.function
    def one_step(x: Any) -> Any:
        losses = strategy.run(step, args=(x,))
        return strategy.reduce("MEAN", losses, axis=None)

    losses, batches = [], []
    for epoch in epochs:
        for x in epoch:
            losses.append(float(one_step(x)))
            batches.append(np.asarray(strategy.gather(x, axis=0)))
    return losses, batches, np.asarray(weights.value())


def on_workers(files: list[str]) -> dict[str, Any]:
    strategy = MultiWorkerMirroredStrategy()
    found = {}
    for name in POLICIES:
        options = Options()
        options.experimental_distribute.auto_shard_policy = AutoShardPolicy[name]
        dataset = (
            TFRecordDataset(files).map(parsed)
            if name == "FILE"
            else Dataset.from_tensor_slices(rows())
        )
        distributed = strategy.experimental_distribute_dataset(
            dataset.batch(BATCH).with_options(options)
        )
        found[name] = train(strategy, [distributed] * EPOCHS)
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("records")
    files = []
    for number, part in enumerate(np.split(rows(), [30, 47])):
        files.append(str(folder / f"{number}.tfrecord"))
        with replax.io.TFRecordWriter(files[-1]) as writer:
            for row in part:
                writer.write(row.tobytes())
    return run_processes(2, on_workers, files, devices=2).values


@pytest.mark.parametrize("policy", POLICIES)
def test_training_is_that_of_one_process(
    found: list[dict[str, Any]], policy: str
) -> None:
    losses, batches, weights = found[0][policy]
    np.testing.assert_array_equal(found[1][policy][2], weights)
    strategy = MirroredStrategy([f"CPU:{i}" for i in range(4)])
    distribute = strategy.experimental_distribute_dataset
    steps = [distribute(Dataset.from_tensors(batch)) for batch in batches]
    alone, _, weights_alone = train(strategy, steps)
    np.testing.assert_allclose(losses, alone, rtol=1e-5)
    np.testing.assert_allclose(weights, weights_alone, rtol=1e-5, atol=1e-6)


def test_every_row_is_seen_as_often_as_the_policy_says(
    found: list[dict[str, Any]],
) -> None:
    for policy, times in zip(POLICIES, (1, 1, 2), strict=True):
        _, batches, _ = found[0][policy]
        seen = np.concatenate(batches[: len(batches) // EPOCHS])
        wanted = np.concatenate([rows()] * times)
        np.testing.assert_array_equal(
            seen[np.lexsort(seen.T)], wanted[np.lexsort(wanted.T)]
        )
        sizes = [len(batch) for batch in batches[: len(batches) // EPOCHS]]
        if policy == "DATA":
            assert sizes == [16] * 6 + [7]
        else:  # 16 and 103 of each worker's own, in four slices, two a step
            assert max(sizes) == 16
