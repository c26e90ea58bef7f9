"""Ctrl-C while a compiled step is started: the variables keep one value or get another.

A program takes the memory of the variables it writes. An interruption between that and
the moment in which they get what it has made would leave them without any value, and a
loop that is begun again would crash.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from interrupting import interrupted_at_each_point

FILES = ("execution/program.py", "topology/window.py", "values/storage.py")


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("looked_at", [False, True])
def test_variables_have_their_values(replicas: int, *, looked_at: bool) -> None:
    devices = [f"CPU:{i}" for i in range(replicas)]
    strategy = replax.distribute.MirroredStrategy(devices)
    with strategy.scope():
        steps = replax.Variable(jnp.zeros((), jnp.int32))
        weights = replax.Variable({"w": jnp.zeros(5), "b": jnp.zeros(2)})

    def step(x: Any) -> Any:
        steps.assign_add(1)
        context = replax.distribute.get_replica_context()
        mean = context.all_reduce("MEAN", x)
        weights.assign({k: v + mean for k, v in weights.read_value().items()})
        return mean

    @replax.function
    def train(x: Any) -> Any:
        return strategy.run(step, (x,))

    x = jnp.ones(())
    for _ in range(12):  # until the window is full
        train(x)

    def look() -> None:
        done = int(steps.numpy())
        for leaf in weights.numpy().values():
            np.testing.assert_array_equal(leaf, np.full_like(leaf, done))
        if not looked_at:
            train(x)  # so that the next one finds arrays that nobody has seen

    assert interrupted_at_each_point(lambda: train(x), look, FILES) > 10
    train(x)
    look()
