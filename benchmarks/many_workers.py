"""Training steps on several processes of this machine, and the sums they need."""

from __future__ import annotations

import functools
import importlib.util
import os
import statistics
from collections.abc import Sequence

import numpy as np
import table
import workers
from groups import Prepare, blocks_of_groups, median_ratio, tf_config
from training import Step, has_tensorflow

# What is promised of the time that a step takes with two processes.
BOUNDS = {
    "torch DDP": 0.7,
    "hand-written JAX, a sum for each gradient": 0.4,
    "TensorFlow": 0.7,
}

# Of float32; from 4 bytes to 64 megabytes.
LENGTHS = (1, 256, 4096, 51_200, 204_800, 1 << 20, 1 << 22, 1 << 24)


def workers_steps() -> list[table.Row]:
    """A step of a perceptron on 2, 3 and 4 processes."""
    rows: list[table.Row] = []
    for processes in (2, 3, 4):
        peers: dict[str, Prepare] = {"ours": workers.replax}
        peers["hand-written JAX, a sum for each gradient"] = workers.hand_written
        if _has_torch():
            peers["torch DDP"] = workers.torch_ddp
        if has_tensorflow():
            peers["TensorFlow"] = workers.tensorflow
        times = blocks_of_groups(peers, processes)
        ours = times.pop("ours")
        rows += [
            _row(
                f"perceptron on {processes} processes, {name}",
                ours,
                theirs,
                BOUNDS[name] if processes == 2 else None,
            )
            for name, theirs in times.items()
        ]
    return rows


def sums_between_workers() -> list[table.Row]:
    """Sums over 2 processes, of few numbers and of many."""
    if not _has_torch():
        return []
    rows: list[table.Row] = []
    for length in LENGTHS:
        peers: dict[str, Prepare] = {
            "ours": functools.partial(_our_sum, length),
            "torch": functools.partial(_sum_of_torch, length),
        }
        times = blocks_of_groups(peers, 2, blocks=10, block_seconds=0.2)
        what = f"sum of {4 * length:,} bytes over 2 processes, torch's gloo"
        rows.append(_row(what, times["ours"], times["torch"]))
    return rows


def _row(
    what: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    bound: float | None = None,
) -> table.Row:
    return table.Row(
        what,
        table.duration(statistics.median(ours)),
        table.duration(statistics.median(theirs)),
        median_ratio(ours, theirs),
        bound,
    )


def _our_sum(length: int, rank: int, addresses: Sequence[str]) -> Step:
    import jax  # noqa: PLC0415 - each peer imports its own library only

    import replax as rx  # noqa: PLC0415

    os.environ["TF_CONFIG"] = tf_config(rank, addresses)
    strategy = rx.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        kept = rx.Variable(np.zeros(length, np.float32))

    def total(x: jax.Array) -> jax.Array:
        """Keeps the sum, and returns a part of it to wait for."""
        kept.assign(rx.distribute.get_replica_context().all_reduce("SUM", x))
        return kept.read_value()[0]

    @rx.function
    def program(x: object) -> object:
        return strategy.run(total, args=(x,))

    mine = strategy.experimental_distribute_values_from_function(
        lambda _: np.ones(length, np.float32)
    )
    return lambda: jax.block_until_ready(
        strategy.experimental_local_results(program(mine))
    )


def _sum_of_torch(length: int, rank: int, addresses: Sequence[str]) -> Step:
    torch = workers.torch_group(rank, addresses)
    mine = torch.zeros(length)
    return lambda: torch.distributed.all_reduce(mine)


def _has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


if __name__ == "__main__":
    table.report(workers_steps, sums_between_workers)
