"""What datasets cost: rows a second, memory, and how soon a plan is there."""

from __future__ import annotations

import functools
import itertools
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import blocks
import numpy as np
import table
import training

ROWS, WIDTH, BATCH = 60_000, 784, 128
NUMBERS, LARGE_BATCH = 10_000_000, 1024

_PAGE_MB = resource.getpagesize() / 1e6


def shuffled_rows() -> list[table.Row]:
    """Shuffled batches of rows in memory."""
    return _rates(
        f"{ROWS:,} x {WIDTH} floats: shuffle, repeat, batch({BATCH})",
        {
            "replax": _shuffled_replax,
            "NumPy": _shuffled_numpy,
            "tf.data": _shuffled_tensorflow,
            "Grain": _shuffled_grain,
        },
        {"tf.data": 1 / 4, "NumPy": 1 / 0.6},
    )


def mapped_numbers() -> list[table.Row]:
    """Numbers in batches, through a function that computes with NumPy."""
    return _rates(
        f"range(10M): batch({LARGE_BATCH}), map of a NumPy function",
        {
            "replax": _mapped_replax,
            "NumPy": _mapped_numpy,
            "tf.data": _mapped_tensorflow,
        },
        {"tf.data": 1 / 3},
    )


def worker_processes() -> list[table.Row]:
    """A slow Python function for each element, in one process and in two."""
    seconds = blocks.seconds_a_step(
        {
            "two": functools.partial(_slow_map, 2),
            "one": functools.partial(_slow_map, 1),
        },
        blocks=12,
    )
    return [
        table.compared(
            "map of a Python function, batch(64): 2 worker processes; 1",
            *seconds.values(),
            bound=1 / 1.4,
        )
    ]


def many_files() -> list[table.Row]:
    """A plan over a million files: made, printed, and sharded."""
    seconds = blocks.in_a_process(_plan_a_million_files)
    return [_limit("a plan over 1,000,000 files: made, printed, sharded", seconds, 1.0)]


def seeking() -> list[table.Row]:
    """Going on near the end of a long plan, and at its beginning."""
    late, early = blocks.in_a_process(_seek)
    return [
        table.compared(
            "set_state and one batch at row 900,000,000 of 1e9, shuffled; at row 0",
            late,
            early,
            bound=1.5,
        )
    ]


def streaming() -> list[table.Row]:
    """Memory while 10 GB of records are read."""
    return [
        table.Row(
            "resident memory of streaming 10 GB of TFRecords: growth; at most 300 MB",
            f"{grown:.0f} MB",
            "300 MB",
            grown / 300,
            1.0,
        )
        for grown in [blocks.in_a_process(_stream)]
    ]


def _limit(what: str, seconds: float, limit: float) -> table.Row:
    return table.Row(
        what, table.duration(seconds), table.duration(limit), seconds / limit, 1.0
    )


def _rates(
    what: str, peers: dict[str, blocks.Prepare], bounds: dict[str, float]
) -> list[table.Row]:
    if not training.has_tensorflow():
        del peers["tf.data"]
    if not _has_grain():
        peers.pop("Grain", None)
    seconds = blocks.seconds_a_step(peers)
    ours = seconds.pop("replax")
    return [
        table.compared(f"{what}; {name}", ours, theirs, bounds.get(name))
        for name, theirs in seconds.items()
    ]


def _has_grain() -> bool:
    import importlib.util  # noqa: PLC0415 - asked for in this place only

    return importlib.util.find_spec("grain") is not None


def _stepping(elements: Iterable[Any]) -> Callable[[], object]:
    return functools.partial(next, iter(elements))


def _rows() -> np.ndarray:
    return np.random.default_rng(0).random((ROWS, WIDTH), np.float32)


def _shuffled_replax() -> Callable[[], object]:
    from replax.data import Dataset  # noqa: PLC0415 - each peer imports its library

    data = Dataset.from_tensor_slices(_rows()).shuffle(ROWS).repeat().batch(BATCH)
    return _stepping(data)


def _shuffled_numpy() -> Callable[[], object]:
    rows = _rows()

    def batches() -> Iterator[np.ndarray]:
        while True:
            order = np.random.default_rng().permutation(ROWS)
            for start in range(0, ROWS - BATCH, BATCH):
                yield rows[order[start : start + BATCH]]

    return _stepping(batches())


def _shuffled_tensorflow() -> Callable[[], object]:
    import tensorflow as tf  # noqa: PLC0415

    data = tf.data.Dataset.from_tensor_slices(_rows())
    return _stepping(data.shuffle(ROWS).repeat().batch(BATCH))


def _shuffled_grain() -> Callable[[], object]:
    import grain  # noqa: PLC0415

    data = grain.MapDataset.source(_rows()).shuffle(seed=0).repeat().batch(BATCH)
    return _stepping(data)


def _scaled(x: np.ndarray) -> np.ndarray:
    return x * 2.0 + 1.0


def _mapped_replax() -> Callable[[], object]:
    from replax.data import Dataset  # noqa: PLC0415

    return _stepping(Dataset.range(NUMBERS).batch(LARGE_BATCH).map(_scaled).repeat())


def _mapped_numpy() -> Callable[[], object]:
    starts = itertools.cycle(range(0, NUMBERS - LARGE_BATCH, LARGE_BATCH))
    return _stepping(_scaled(np.arange(s, s + LARGE_BATCH)) for s in starts)


def _mapped_tensorflow() -> Callable[[], object]:
    import tensorflow as tf  # noqa: PLC0415

    def scaled(x: Any) -> Any:
        return tf.numpy_function(_scaled, [x], tf.float64)

    data = tf.data.Dataset.range(NUMBERS).batch(LARGE_BATCH).map(scaled)
    return _stepping(data.repeat())


def _slow(x: np.int64) -> int:
    total = int(x)
    for i in range(3000):
        total += i * i % 7
    return total


def _slow_map(processes: int) -> Callable[[], object]:
    import replax  # noqa: PLC0415

    options = replax.data.Options()
    options.worker_processes = processes
    data = replax.data.Dataset.range(NUMBERS).map(_slow).batch(64)
    return _stepping(data.with_options(options))


def _plan_a_million_files() -> float:
    import replax  # noqa: PLC0415

    names = np.array([f"part-{i:07d}" for i in range(1_000_000)], object)
    start = time.perf_counter()
    files = replax.data.Dataset.from_tensor_slices(names)
    shards = [files.shard(1000, i) for i in range(1000)]
    data = replax.data.TFRecordDataset(shards[7].shuffle(1000)).batch(128)
    str(data)
    data.explain()
    sum(len(shard) for shard in shards)
    return time.perf_counter() - start


def _seek() -> tuple[float, float]:
    from replax.data import Dataset  # noqa: PLC0415

    size = 10**9
    data = Dataset.range(size).shuffle(size, seed=1).repeat().batch(BATCH)
    times: list[float] = []
    for row in (0, size * 9 // 10):
        state = iter(data).get_state() | {"position": row // BATCH}
        taken: list[float] = []
        for _ in range(20):
            start = time.perf_counter()
            iterator = iter(data)
            iterator.set_state(state)
            next(iterator)
            taken.append(time.perf_counter() - start)
        times.append(sorted(taken)[len(taken) // 2])
    return times[1], times[0]


def _stream() -> float:
    import replax  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        name = str(Path(folder) / "records")
        record = os.urandom(100_000)
        with replax.io.TFRecordWriter(name) as writer:
            for _ in range(1000):
                writer.write(record)
        # The same 100 MB a hundred times: what is read, not what the disk holds.
        data = replax.data.TFRecordDataset([name] * 100).shuffle(100).batch(32)
        steps = iter(data)
        next(steps)
        before = resident()
        most = before
        for _ in steps:
            most = max(most, resident())
        return most - before


def resident() -> float:
    """The resident memory of this process, in MB."""
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_MB


if __name__ == "__main__":
    table.report(
        shuffled_rows, mapped_numbers, worker_processes, many_files, seeking, streaming
    )
