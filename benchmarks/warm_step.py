"""What a compiled training step costs."""

from __future__ import annotations

import functools

import blocks
import table
import training

PERCEPTRON = (784, 256, 10)
MANY_LAYERS = (64, *[16] * 49, 10)


def perceptron() -> list[table.Row]:
    """A warm step of a perceptron 784-256-10."""
    return _rows("compiled step, MLP 784-256-10, batch 128", PERCEPTRON)


def many_variables() -> list[table.Row]:
    """A warm step of a model with 100 variables."""
    return _rows("compiled step, 50 layers, 100 variables", MANY_LAYERS)


def _rows(what: str, widths: tuple[int, ...]) -> list[table.Row]:
    peers = {
        "replax": functools.partial(training.replax, widths),
        "jit(shard_map)": functools.partial(training.hand_written, widths),
    }
    if training.has_tensorflow():
        peers["TensorFlow"] = functools.partial(training.tensorflow, widths)
    seconds = blocks.seconds_a_step(peers)
    ours = seconds.pop("replax")
    bounds = {"jit(shard_map)": 1.10}
    return [
        table.compared(f"{what}; {peer}", ours, theirs, bounds.get(peer))
        for peer, theirs in seconds.items()
    ]


if __name__ == "__main__":
    table.report(perceptron, many_variables)
