"""What layers that prepare strings cost in a dataset: Keras's are the peer."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import blocks
import numpy as np
import table
from datasets import stepping

WORDS, ROWS, BATCH = 10_000, 2**16, 1024


def string_lookups() -> list[table.Row]:
    """Batches of strings, mapped to their numbers."""
    return _compared(
        f"batch({BATCH}) of strings, map(StringLookup) of {WORDS:,} words; tf.keras",
        "StringLookup",
        {"vocabulary": [f"user{i}" for i in range(WORDS)]},
        bound=1.0,
    )


def hashed_strings() -> list[table.Row]:
    """Batches of strings, mapped to the buckets of their hashes."""
    what = f"batch({BATCH}) of strings, map(Hashing)"
    return [
        *_compared(f"{what}; tf.keras", "Hashing", {"num_bins": 1000}),
        *_compared(
            f"{what} with a salt; tf.keras",
            "Hashing",
            {"num_bins": 1000, "salt": (133, 137)},
        ),
    ]


def _compared(
    what: str, layer: str, arguments: dict[str, Any], bound: float | None = None
) -> list[table.Row]:
    seconds = blocks.seconds_a_step(
        {
            "replax": functools.partial(_replax, layer, arguments),
            "tf.keras": functools.partial(_keras, layer, arguments),
        }
    )
    return [table.compared(what, *seconds.values(), bound=bound)]


def _strings() -> np.ndarray:
    # Some are no words.
    numbers = np.random.default_rng(0).zipf(1.3, ROWS) % (WORDS * 11 // 10)
    return np.array([f"user{i}".encode() for i in numbers], object)


def _replax(layer: str, arguments: dict[str, Any]) -> Callable[[], object]:
    import replax  # noqa: PLC0415

    data = replax.data.Dataset.from_tensor_slices(_strings()).repeat().batch(BATCH)
    return stepping(data.map(getattr(replax.keras.layers, layer)(**arguments)))


def _keras(layer: str, arguments: dict[str, Any]) -> Callable[[], object]:
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import keras  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    data = tf.data.Dataset.from_tensor_slices(_strings()).repeat().batch(BATCH)
    return stepping(data.map(getattr(keras.layers, layer)(**arguments)))


if __name__ == "__main__":
    table.report(string_lookups, hashed_strings)
