"""Models and optimizers of Keras are saved by their variables, in their order."""

from __future__ import annotations

import textwrap
from pathlib import Path

from fresh_process import run_python

_PROGRAM = """
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
import pytest

import replax

x = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
y = x.sum(1)


def made():
    layers = [keras.layers.Dense(4), keras.layers.BatchNormalization()]
    model = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(1)])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    return model


def fit(model):
    return model.fit(x, y, batch_size=8, verbose=0, shuffle=False).history["loss"]


trained, other = made(), made()
fit(trained)
path = replax.train.Checkpoint(model=trained, optimizer=trained.optimizer).save("ck")
status = replax.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path)
# An optimizer makes its slots when it sees what it is to train.
with pytest.raises(AssertionError, match="optimizer.2"):
    status.assert_consumed()
other.optimizer.build(other.trainable_variables)
status.assert_consumed()
assert fit(trained) == fit(other)

smaller = keras.Sequential([keras.Input((3,)), keras.layers.Dense(5)])
with pytest.raises(ValueError, match="kernel.*float32.3, 5.*float32.3, 4"):
    replax.train.Checkpoint(model=smaller).restore(path)
"""


def test_a_model_and_its_optimizer_go_on_where_they_were(tmp_path: Path) -> None:
    run_python("-c", textwrap.dedent(_PROGRAM), folder=tmp_path)
