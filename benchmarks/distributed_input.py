"""What it costs to give two replicas their parts of each batch."""

from __future__ import annotations

import functools
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import blocks
import numpy as np
import table
import training
from datasets import resident

ROWS, WIDTHS = 60_000, (784, 256, 10)
SMALL_ROWS = 1_000_000
FILES, WORKERS = 1_000_000, 4096

Batches = Iterator[tuple[Any, Any]]


def feeding() -> list[table.Row]:
    """Shuffled batches of 60,000 images, on two devices."""
    peers = {
        "replax": _replax_input,
        "device_put by hand": _hand_written_input,
    }
    if training.has_tensorflow():
        peers["TensorFlow"] = _tensorflow_input
    return _compared(
        f"{ROWS:,} x {WIDTHS[0]} floats: shuffle, batch {training.BATCH}, to 2 devices",
        peers,
        {"device_put by hand": 1 / 0.6, "TensorFlow": 1 / 3},
    )


def fed_training() -> list[table.Row]:
    """A whole training step of a perceptron, with the input that feeds it."""
    peers = {
        "replax": functools.partial(training.replax, WIDTHS, feed=_replax_batches),
        "device_put and jit(shard_map) by hand": functools.partial(
            training.hand_written, WIDTHS, feed=_hand_written_batches
        ),
    }
    if training.has_tensorflow():
        peers["TensorFlow"] = functools.partial(
            training.tensorflow, WIDTHS, feed=_tensorflow_batches
        )
    return _compared(
        "MLP 784-256-10, batch 128, with its input",
        peers,
        {"device_put and jit(shard_map) by hand": 1.15, "TensorFlow": 0.5},
    )


def rebatching() -> list[table.Row]:
    """Memory of cutting batches for one replica and for sixteen."""
    one, sixteen = (blocks.in_a_process(_cut_for, n) for n in (1, 16))
    return [
        table.Row(
            "most memory of cutting 200 batches of 3 MB: for 16 replicas; for 1",
            f"{sixteen / 1e6:.2f} MB",
            f"{one / 1e6:.2f} MB",
            sixteen / one,
            1.05,
        )
    ]


def long_training() -> list[table.Row]:
    """Memory of ten epochs over a million small rows on eight devices."""
    before, after = blocks.in_a_process(_ten_epochs)
    return [
        table.Row(
            f"10 epochs of {SMALL_ROWS:,} rows on 8 devices: resident memory at the "
            f"end; after the first",
            f"{after:.0f} MB",
            f"{before:.0f} MB",
            after / before,
            1.05,
        )
    ]


def sharding() -> list[table.Row]:
    """A million files, shared by thousands of workers."""
    seconds = blocks.in_a_process(_shared)
    return [
        table.Row(
            f"sharding {FILES:,} files over {WORKERS:,} workers, for all of them",
            table.duration(seconds),
            "1.0 s",
            seconds,
            1.0,
        )
    ]


def _compared(
    what: str, peers: dict[str, blocks.Prepare], bounds: dict[str, float]
) -> list[table.Row]:
    seconds = blocks.seconds_a_step(peers)
    ours = seconds.pop("replax")
    return [
        table.compared(f"{what}; {name}", ours, theirs, bounds[name])
        for name, theirs in seconds.items()
    ]


def _rows() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    labels = random.integers(0, WIDTHS[-1], ROWS).astype(np.int32)
    return random.random((ROWS, WIDTHS[0]), np.float32), labels


def _replax_batches(strategy: Any) -> Batches:
    from replax.data import Dataset  # noqa: PLC0415 - each peer imports its library

    data = Dataset.from_tensor_slices(_rows()).shuffle(ROWS).repeat()
    batches = data.batch(training.BATCH)
    return iter(strategy.experimental_distribute_dataset(batches))


def _hand_written_batches(sharding: Any) -> Batches:
    import jax  # noqa: PLC0415

    x, y = _rows()
    while True:
        order = np.random.default_rng().permutation(ROWS)
        for start in range(0, ROWS - training.BATCH, training.BATCH):
            chosen = order[start : start + training.BATCH]
            yield jax.device_put((x[chosen], y[chosen]), sharding)


def _tensorflow_batches(strategy: Any) -> Batches:
    import tensorflow as tf  # noqa: PLC0415

    data = tf.data.Dataset.from_tensor_slices(_rows()).shuffle(ROWS).repeat()
    batches = data.batch(training.BATCH)
    return iter(strategy.experimental_distribute_dataset(batches))


def _replax_input() -> Callable[[], object]:
    import jax  # noqa: PLC0415

    import replax  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", training.REPLICAS)
    strategy = replax.distribute.MirroredStrategy()
    batches = _replax_batches(strategy)
    topology = strategy.place.topology

    def step() -> object:
        # What a compiled step takes: the arrays that lie on both devices.
        arrays = [part.stack(topology, "a batch")[0] for part in next(batches)]
        return jax.block_until_ready(arrays)

    return step


def _hand_written_input() -> Callable[[], object]:
    import jax  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", training.REPLICAS)
    mesh = Mesh(np.array(jax.devices()), ("replica",))
    batches = _hand_written_batches(NamedSharding(mesh, PartitionSpec("replica")))
    return lambda: jax.block_until_ready(next(batches))


def _tensorflow_input() -> Callable[[], object]:
    strategy = training.tensorflow_strategy()
    batches = _tensorflow_batches(strategy)
    return lambda: [part.values for part in next(batches)]


def _cut_for(replicas: int) -> int:
    from replax._src.input.steps import Split  # noqa: PLC0415
    from replax.data import Dataset  # noqa: PLC0415

    rows = np.zeros((20_000, 784), np.float32)
    data = Dataset.from_tensor_slices(rows).shuffle(20_000).batch(1000).repeat(10)
    steps = Split(data.plan.open((0,)), replicas)
    tracemalloc.start()
    while (step := steps.take(1)) is not None:
        (leaf,) = step.leaves
        parts = [leaf] if isinstance(leaf, list) else map(leaf.of, range(replicas))
        list(parts)
    return tracemalloc.get_traced_memory()[1]


def _ten_epochs() -> tuple[float, float]:
    import jax  # noqa: PLC0415
    import jax.numpy as jnp  # noqa: PLC0415

    import replax  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", 8)
    strategy = replax.distribute.MirroredStrategy()
    rows = np.arange(SMALL_ROWS * 4, dtype=np.float32).reshape(SMALL_ROWS, 4)
    data = replax.data.Dataset.from_tensor_slices(rows).shuffle(SMALL_ROWS).batch(1000)
    distributed = strategy.experimental_distribute_dataset(data)

    @replax.function
    def total(x: Any) -> Any:
        sums = strategy.run(jnp.sum, args=(x,))
        return strategy.reduce("SUM", sums, axis=None)

    sizes: list[float] = []
    for _ in range(10):
        for x in distributed:
            total(x)
        sizes.append(resident())
    return sizes[0], sizes[-1]


def _shared() -> float:
    from replax._src.input.autoshard import Worker, share  # noqa: PLC0415
    from replax.data import TFRecordDataset  # noqa: PLC0415
    from replax.data.experimental import AutoShardPolicy  # noqa: PLC0415

    names = [f"part-{i:07d}" for i in range(FILES)]
    plan = TFRecordDataset(names).batch(8 * WORKERS).plan
    counts = [8] * WORKERS
    start = time.perf_counter()
    for index in range(WORKERS):
        share(plan, AutoShardPolicy.AUTO, Worker.among(counts, index))
    return time.perf_counter() - start


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    table.report(feeding, fed_training, rebatching, long_training, sharding)
