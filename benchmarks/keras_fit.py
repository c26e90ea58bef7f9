"""What a step of Keras's `fit` costs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import blocks
import numpy as np
import table
import training

# Keras's own distribution cannot have more steps unfinished without being aborted.
FEW, MANY = 24, 100
WIDTH, HIDDEN, CLASSES = 784, 256, 10


def keras_fit() -> list[table.Row]:
    """Keras's fit on two replicas, in batches that divide."""
    what = "Keras fit, MLP 784-256-10, batch 128, a step; "
    rows = _rows(what, "keras DataParallel", keras_distribution, FEW, 1 / 0.95)
    if training.has_tensorflow():
        rows += _rows(what, "tf.distribute", tensorflow, MANY, 1 / 1.5)
    return rows


def _rows(
    what: str, peer: str, prepare: Callable[[int], Any], steps: int, bound: float
) -> list[table.Row]:
    peers = {
        "replax": functools.partial(replax, steps),
        peer: functools.partial(prepare, steps),
    }
    # A call of fit is many steps already.
    seconds = blocks.seconds_a_step(
        peers, blocks=20, block_seconds=0.3, warm_steps=2, least_steps=1
    )
    ours, theirs = (seconds[name] / steps for name in ("replax", peer))
    return [table.compared(what + peer, ours, theirs, bound)]


def _images(steps: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    count = training.BATCH * steps
    x = random.random((count, WIDTH), np.float32)
    return x, random.integers(0, CLASSES, count).astype(np.int32)


def _model() -> Any:
    import keras  # noqa: PLC0415 - each peer says first on what it runs

    model = keras.Sequential(
        [
            keras.Input((WIDTH,)),
            keras.layers.Dense(HIDDEN, activation="relu"),
            keras.layers.Dense(CLASSES),
        ]
    )
    model.compile(
        "adam",
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def _epoch(model: Any, x: Any, y: Any) -> Callable[[], object]:
    """One call of fit; it ends when its last step has."""
    return lambda: model.fit(x, y, batch_size=training.BATCH, shuffle=False, verbose=0)


def _on_jax() -> None:
    os.environ["KERAS_BACKEND"] = "jax"
    import jax  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", training.REPLICAS)


def replax(steps: int) -> Callable[[], object]:
    """A user of Replax."""
    _on_jax()
    import replax as rx  # noqa: PLC0415

    with rx.distribute.MirroredStrategy().scope():
        model = _model()
    return _epoch(model, *_images(steps))


def keras_distribution(steps: int) -> Callable[[], object]:
    """A user of Keras's own distribution."""
    _on_jax()
    import keras  # noqa: PLC0415

    devices = [f"cpu:{i}" for i in range(training.REPLICAS)]
    distribution = keras.distribution.DataParallel(devices=devices)
    keras.distribution.set_distribution(distribution)
    return _epoch(_model(), *_images(steps))


def tensorflow(steps: int) -> Callable[[], object]:
    """A user of tf.distribute, with TensorFlow's own input."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import tensorflow as tf  # noqa: PLC0415

    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * training.REPLICAS
    )
    devices = [f"CPU:{i}" for i in range(training.REPLICAS)]
    with tf.distribute.MirroredStrategy(devices).scope():
        model = _model()
    return _epoch(model, *_images(steps))


if __name__ == "__main__":
    table.report(keras_fit)
