"""A warm step takes few Python calls of ours, all of them downwards."""

from __future__ import annotations

import collections
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

import replax
from replax.distribute import MirroredStrategy, get_replica_context

SOURCES = str(Path(replax.__file__).parent / "_src") + "/"

# From top to bottom, as the contracts of import-linter have them.
LAYERS = ["strategies", "execution", "values", "replica", "topology", "core"]

MOST_CALLS = 12
MOST_FILES = 7


class Calls:
    """The calls of functions of ours: who called whom."""

    def __init__(self) -> None:
        self.made: list[tuple[str | None, str, str]] = []

    def __enter__(self) -> Self:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCES):
            caller = frame.f_back
            self.made.append(
                (
                    None if caller is None else _place(caller),
                    _place(frame) or "",
                    frame.f_code.co_qualname,
                )
            )

    def upwards(self) -> list[str]:
        """Calls from a lower layer to a higher one, without user code in between."""
        return [
            f"{caller} calls {name} of {callee}"
            for caller, callee, name in self.made
            if caller is not None and _height(caller) > _height(callee)
        ]


def _place(frame: FrameType) -> str | None:
    name = frame.f_code.co_filename
    return name.removeprefix(SOURCES) if name.startswith(SOURCES) else None


def _height(place: str) -> int:
    return LAYERS.index(place.split("/", maxsplit=1)[0])


def a_training_step() -> tuple[Any, Any]:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        weights = [replax.Variable(np.ones((4, 4), np.float32)) for _ in range(20)]

    def step(x: Any, y: Any) -> Any:
        def loss(ws: Any) -> Any:
            h = x
            for w in ws:
                h = jnp.tanh(h @ w)
            return ((h - y) ** 2).mean()

        value, gradient = jax.value_and_grad(loss)([w.read_value() for w in weights])
        context = get_replica_context()
        for w, g in zip(weights, context.all_reduce("MEAN", gradient), strict=True):
            w.assign_sub(0.1 * g)
        return value

    @replax.function
    def train(batch: Any) -> Any:
        losses = strategy.run(step, args=batch)
        return strategy.reduce("MEAN", losses, axis=None)

    def make(_: Any) -> Any:
        return np.ones((3, 4), np.float32)

    distribute = strategy.experimental_distribute_values_from_function
    return train, (distribute(make), distribute(make))


def test_a_warm_compiled_step_makes_few_calls_and_none_upwards() -> None:
    train, batch = a_training_step()
    for _ in range(2):
        train(batch).block_until_ready()
    with Calls() as calls:
        loss = train(batch)
    loss.block_until_ready()
    names = collections.Counter(name for _, _, name in calls.made)
    assert len(calls.made) <= MOST_CALLS, names
    assert len({callee for _, callee, _ in calls.made}) <= MOST_FILES, calls.made
    assert not calls.upwards()
