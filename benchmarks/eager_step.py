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
    peers = {
        "replax": functools.partial(training.replax, PERCEPTRON, compiled=False),
        "JAX alone": functools.partial(training.op_by_op, PERCEPTRON),
    }
    if training.has_tensorflow():
        peers["TensorFlow"] = functools.partial(
            training.tensorflow, PERCEPTRON, compiled=False
        )
    seconds = blocks.seconds_a_step(peers)
    ours = seconds.pop("replax")
    bounds = {"TensorFlow": 0.6}
    return [
        table.compared(f"{what}; {peer}", ours, theirs, bounds.get(peer))
        for peer, theirs in seconds.items()
    ]


if __name__ == "__main__":
    table.report(eager)
