"""What a training step costs that is not compiled."""

from __future__ import annotations

import functools

import blocks
import table
import training
from warm_step import PERCEPTRON


def eager() -> list[table.Row]:
    """An eager step of a perceptron 784-256-10."""
    what = "eager step, MLP 784-256-10, batch 128"
    ours = functools.partial(training.replax, PERCEPTRON, compiled=False)
    theirs = functools.partial(training.tensorflow, PERCEPTRON, compiled=False)
    if not training.has_tensorflow():
        seconds = blocks.seconds_a_step({"replax": ours})
        return [table.Row(what, table.duration(seconds["replax"]))]
    seconds = blocks.seconds_a_step({"replax": ours, "TensorFlow": theirs})
    return [
        table.compared(f"{what}; TensorFlow", *seconds.values(), bound=0.6),
    ]


if __name__ == "__main__":
    table.report(eager)
