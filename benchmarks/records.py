"""What reading record files and parsing examples costs."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import blocks
import numpy as np
import table
import training

# A pass over the file is a step.
RECORDS = 1_000_000
BATCH = 256
PASSES = 6

# What is in an example: for each feature its dtype and how many values it has.
FEATURES: dict[str, tuple[str, list[int]]] = {
    "label": ("int64", []),
    "user": ("int64", []),
    "time": ("int64", []),
    "clicks": ("int64", [8]),
    "price": ("float32", []),
    "place": ("float32", [4]),
    "embedding": ("float32", [16]),
    "country": ("string", []),
    "session": ("string", []),
    "digest": ("string", []),
}


def record_files() -> list[table.Row]:
    """Reading a TFRecord file."""
    what = f"TFRecord file, {RECORDS:,} records of 20 to 180 bytes, by 1024"
    with tempfile.TemporaryDirectory() as folder:
        path = os.fspath(Path(folder, "records"))
        _write_records(path)
        return _rows(
            what,
            functools.partial(_read_replax, path),
            {"TensorFlow": functools.partial(_read_tensorflow, path)},
            passes=PASSES,
        )


def examples() -> list[table.Row]:
    """Parsing a batch of examples."""
    what = f"parse_example, 10 features, batch {BATCH}"
    batch = _examples()
    return _rows(
        what,
        functools.partial(_parse_replax, batch),
        {
            "TensorFlow": functools.partial(_parse_tensorflow, batch),
            "TensorFlow in a tf.function": functools.partial(
                _parse_tensorflow, batch, compiled=True
            ),
        },
    )


def _rows(
    what: str,
    ours: blocks.Prepare,
    theirs: dict[str, blocks.Prepare],
    passes: int | None = None,
) -> list[table.Row]:
    def measured(peers: dict[str, blocks.Prepare]) -> dict[str, float]:
        if passes is None:
            return blocks.seconds_a_step(peers)
        return blocks.seconds_a_step(peers, blocks=passes, warm_steps=1, least_steps=1)

    if not training.has_tensorflow():
        return [table.Row(what, table.duration(measured({"replax": ours})["replax"]))]
    seconds = measured({"replax": ours, **theirs})
    # At least half as fast.
    return [
        table.compared(f"{what}; {peer}", seconds["replax"], seconds[peer], bound=2.0)
        for peer in theirs
    ]


def _write_records(path: str) -> None:
    from replax.io import TFRecordWriter  # noqa: PLC0415 - in the process that needs it

    rng = np.random.default_rng(0)
    with TFRecordWriter(path) as writer:
        for size in rng.integers(20, 180, RECORDS).tolist():
            writer.write(rng.bytes(size))


def _read_replax(path: str) -> Callable[[], object]:
    from replax.data import TFRecordDataset  # noqa: PLC0415

    def step() -> int:
        return sum(len(batch) for batch in TFRecordDataset(path).batch(1024))

    assert step() == RECORDS
    return step


def _read_tensorflow(path: str) -> Callable[[], object]:
    import tensorflow as tf  # noqa: PLC0415

    def step() -> int:
        dataset = tf.data.TFRecordDataset(path).batch(1024)
        return sum(batch.shape[0] for batch in dataset)

    assert step() == RECORDS
    return step


def _examples() -> list[bytes]:
    from replax.io import serialize_example  # noqa: PLC0415

    rng = np.random.default_rng(0)

    def value(dtype: str, shape: Sequence[int]) -> Any:
        if dtype == "string":
            return rng.bytes(16)
        if dtype == "float32":
            return rng.normal(size=shape)
        # Of one byte and of several, in one feature.
        return (10 ** rng.uniform(0, 7, size=shape)).astype(np.int64)

    return [
        serialize_example({name: value(*what) for name, what in FEATURES.items()})
        for _ in range(BATCH)
    ]


def _parse_replax(batch: list[bytes]) -> Callable[[], object]:
    from replax.io import FixedLenFeature, parse_example  # noqa: PLC0415

    features = {
        name: FixedLenFeature(shape, dtype) for name, (dtype, shape) in FEATURES.items()
    }
    return lambda: parse_example(batch, features)


def _parse_tensorflow(
    batch: list[bytes], *, compiled: bool = False
) -> Callable[[], object]:
    import tensorflow as tf  # noqa: PLC0415

    features = {
        name: tf.io.FixedLenFeature(shape, tf.as_dtype(dtype))
        for name, (dtype, shape) in FEATURES.items()
    }
    serialized = tf.constant(batch)

    def parse(examples: Any) -> Any:
        return tf.io.parse_example(examples, features)

    function = tf.function(parse) if compiled else parse
    return lambda: function(serialized)


if __name__ == "__main__":
    table.report(record_files, examples)
