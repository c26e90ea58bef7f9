"""20,000 compiled steps with an all-reduce, of which none is waited for.

XLA on CPU aborts the process when some tens of such programs are under way at once;
Replax waits for an old one before it starts another. Memory must not grow either.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import blocks
import numpy as np
import table

_REPLICAS = (2, 4, 8, 16)
_STEPS = 20_000
_FIRST = 2_000


def unsynchronised() -> list[table.Row]:
    """Steps that nobody waits for: no abort, no hang, flat memory."""
    return [_row(replicas) for replicas in _REPLICAS]


def _row(replicas: int) -> table.Row:
    seconds, early, late = blocks.in_a_process(_train, replicas)
    what = (
        f"{_STEPS:,} steps not waited for, {replicas} devices, "
        f"{table.duration(seconds)}; resident memory after {_FIRST:,}"
    )
    return table.Row(what, f"{late:.0f} MB", f"{early:.0f} MB", late / early, 1.05)


def _train(replicas: int) -> tuple[float, float, float]:
    import jax  # noqa: PLC0415 - in the process that measures
    import jax.numpy as jnp  # noqa: PLC0415

    import replax as rx  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", replicas)
    strategy = rx.distribute.MirroredStrategy()
    with strategy.scope():
        mean = rx.Variable(jnp.zeros((64, 64)))

    def step(x: Any) -> None:
        replica = rx.distribute.get_replica_context()
        mean.assign_add(replica.all_reduce("MEAN", x - mean.value()))

    @rx.function
    def train(x: Any) -> None:
        strategy.run(step, args=(x,))

    x = strategy.experimental_distribute_values_from_function(
        lambda context: np.full((64, 64), context.replica_id_in_sync_group, "f")
    )
    start = time.perf_counter()
    for _ in range(_FIRST):
        train(x)
    early = _megabytes()
    for _ in range(_STEPS - _FIRST):
        train(x)
    late = _megabytes()
    np.testing.assert_allclose(mean.numpy(), (replicas - 1) / 2, rtol=1e-6)
    return time.perf_counter() - start, early, late


def _megabytes() -> float:
    """Resident memory of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1e3
    raise AssertionError


if __name__ == "__main__":
    table.report(unsynchronised)
