"""What a compiled run of next to nothing costs over JAX itself."""

from __future__ import annotations

import functools
from typing import Any

import blocks
import numpy as np
import table
import training

_REPLICAS = (2, 4, 8)


def run_overhead() -> list[table.Row]:
    """A compiled run of `x + 1`."""
    return [_row(replicas) for replicas in _REPLICAS]


def _row(replicas: int) -> table.Row:
    seconds = blocks.seconds_a_step(
        {
            "replax": functools.partial(_replax, replicas),
            "jit(shard_map)": functools.partial(_hand_written, replicas),
        }
    )
    ours, theirs = seconds.values()
    more = (ours - theirs) * 1e6
    what = f"compiled run of x + 1, {replicas} devices; jit(shard_map): {more:+.0f} us"
    return table.compared(what, ours, theirs)


def _replax(replicas: int) -> training.Step:
    import jax  # noqa: PLC0415 - each peer imports its own library only

    import replax as rx  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", replicas)
    strategy = rx.distribute.MirroredStrategy()

    @rx.function
    def train(x: Any) -> Any:
        return strategy.run(lambda x: x + 1, args=(x,))

    x = strategy.experimental_distribute_values_from_function(
        lambda _: np.ones((1,), "f")
    )

    def step() -> object:
        nonlocal x
        x = train(x)
        return jax.block_until_ready(x.values)

    return step


def _hand_written(replicas: int) -> training.Step:
    import jax  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding  # noqa: PLC0415
    from jax.sharding import PartitionSpec as P  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", replicas)
    mesh = Mesh(np.array(jax.devices()), ("replica",))
    spec = P("replica")
    program = jax.jit(
        jax.shard_map(lambda x: x + 1, mesh=mesh, in_specs=spec, out_specs=spec)
    )
    x = jax.device_put(np.ones(replicas, "f"), NamedSharding(mesh, spec))

    def step() -> object:
        nonlocal x
        x = program(x)
        return jax.block_until_ready(x)

    return step


if __name__ == "__main__":
    table.report(run_overhead)
