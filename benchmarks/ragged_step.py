"""What a compiled step costs whose replicas have different numbers of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import blocks
import numpy as np
import table
import training

FULL = (64, 64, 64)
RAGGED = (64, 17, 0)
WIDTHS = (256, 512, 256, 10)


def ragged_step() -> list[table.Row]:
    """A step with 64, 17 and 0 rows beside one with 64 on each."""
    seconds = blocks.seconds_a_step(
        {str(rows): functools.partial(prepare, rows) for rows in (RAGGED, FULL)}
    )
    ragged, full = (
        blocks.in_a_process(bytes_of_temporaries, rows) for rows in (RAGGED, FULL)
    )
    what = f"3-layer MLP on 3 replicas, rows {RAGGED}; rows {FULL}"
    kilobytes = (f"{ragged / 1e3:.0f} kB", f"{full / 1e3:.0f} kB")
    return [
        table.compared(f"{what}: time", *seconds.values(), bound=1.3),
        table.Row(f"{what}: temporaries", *kilobytes, ragged / full, 1.5),
    ]


def prepare(rows: tuple[int, ...]) -> training.Step:
    """A training step with a collective in the forward pass and one for the gradients.

    The activations are centred on the mean over all rows of all replicas.
    """
    import jax  # noqa: PLC0415 - in the process that measures
    import jax.numpy as jnp  # noqa: PLC0415

    import replax as rx  # noqa: PLC0415

    jax.config.update("jax_num_cpu_devices", len(rows))
    strategy = rx.distribute.MirroredStrategy()
    with strategy.scope():
        weights = [rx.Variable(w) for w in training.initial_weights(WIDTHS)]
    total = sum(rows)

    def loss_of(values: Any, x: Any, y: Any) -> Any:
        replica = rx.distribute.get_replica_context()
        matrix, bias, *others = values
        hidden = x @ matrix + bias
        mean = replica.all_reduce("SUM", jnp.sum(hidden, axis=0)) / total
        first, first_bias, last, last_bias = others
        hidden = jax.nn.relu(jax.nn.relu(hidden - mean) @ first + first_bias)
        scores = jax.nn.log_softmax(hidden @ last + last_bias)
        return -jnp.sum(jnp.take_along_axis(scores, y[:, None], 1)) / total

    def step(x: Any, y: Any) -> Any:
        values = [w.value() for w in weights]
        loss, gradients = jax.value_and_grad(loss_of)(values, x, y)
        gradients = rx.distribute.get_replica_context().all_reduce("SUM", gradients)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.assign_sub(training.RATE * gradient)
        return loss

    @rx.function
    def train(x: Any, y: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    x, y = training.batch(WIDTHS)
    mine = strategy.experimental_distribute_values_from_function(
        lambda context: (
            x[: rows[context.replica_id_in_sync_group]],
            y[: rows[context.replica_id_in_sync_group]],
        )
    )
    return lambda: jax.block_until_ready(train(*mine))


def bytes_of_temporaries(rows: tuple[int, ...]) -> int:
    """What XLA sets aside on each device while the program of the step runs."""
    import jax  # noqa: PLC0415 - in the process that measures

    step = prepare(rows)
    programs: list[_Noted] = []

    def noting_jit(function: Callable[..., Any], **options: Any) -> _Noted:
        programs.append(_Noted(real_jit(function, **options)))
        return programs[-1]

    # The program is made in the first call, by the `jax.jit` that is found then.
    real_jit: Any = jax.jit
    jax.jit = noting_jit
    step()
    jax.jit = real_jit
    return max(program.bytes_of_temporaries() for program in programs if program.types)


class _Noted:
    """A jitted function that remembers what it was called with."""

    def __init__(self, jitted: Any) -> None:
        self._jitted = jitted
        self.types: tuple[Any, ...] = ()

    def __call__(self, *args: Any) -> Any:
        self.types = tuple(_type_of(x) for x in args)
        return self._jitted(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jitted, name)

    def bytes_of_temporaries(self) -> int:
        compiled = self._jitted.lower(*self.types).compile()
        return compiled.memory_analysis().temp_size_in_bytes


def _type_of(x: Any) -> Any:
    import jax  # noqa: PLC0415 - in the process that measures

    if isinstance(x, np.ndarray) or not x.committed:
        return jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding)


if __name__ == "__main__":
    table.report(ragged_step)
