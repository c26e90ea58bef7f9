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
    """A compiled run of `x + 1`, and the sum over the replicas."""
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
    what = f"compiled sum of x + 1, {replicas} devices; jit(shard_map): {more:+.0f} us"
    return table.compared(what, ours, theirs)


def _replax(replicas: int) -> training.Step:
    import jax  # noqa: PLC0415 - each peer imports its own library only

    import replax as rx  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", replicas)
    strategy = rx.distribute.MirroredStrategy()

    @rx.function
    def train(x: Any) -> Any:
        more = strategy.run(lambda x: x + 1, args=(x,))
        return strategy.reduce("SUM", more, axis=None)

    x = strategy.experimental_distribute_values_from_function(
        lambda _: np.ones((), "f")
    )
    return lambda: jax.block_until_ready(train(x))


def _hand_written(replicas: int) -> training.Step:
    import jax  # noqa: PLC0415
    from jax.sharding import Mesh, NamedSharding  # noqa: PLC0415
    from jax.sharding import PartitionSpec as P  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", replicas)
    mesh = Mesh(np.array(jax.devices()), ("replica",))
    program = jax.jit(
        jax.shard_map(
            lambda x: jax.lax.psum(x[0] + 1, "replica"),
            mesh=mesh,
            in_specs=P("replica"),
            out_specs=P(),
            check_vma=False,
        )
    )
    x = jax.device_put(np.ones(replicas, "f"), NamedSharding(mesh, P("replica")))
    return lambda: jax.block_until_ready(program(x))


if __name__ == "__main__":
    table.report(run_overhead)
