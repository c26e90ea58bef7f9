"""In programs that have imported Keras the layers are layers of Keras."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import replax
from fresh_process import run_python
from replax.keras.layers import (
    CategoryEncoding,
    Discretization,
    Hashing,
    IntegerLookup,
    Normalization,
    StringLookup,
)

IDS = np.array([[5, 3], [7, 7]])
REALS = np.array([[0.5, 2.0], [-1.0, 3.0]], np.float32)


def test_they_are_layers_of_keras_and_of_ours() -> None:
    layer = Normalization(name="scaled")
    assert isinstance(layer, keras.layers.Layer)
    assert isinstance(layer, Normalization)
    assert not isinstance(layer, Hashing)
    assert layer.name == "scaled"
    assert not layer.weights


def test_arrays_of_the_host_pass_keras_by() -> None:
    lookup = StringLookup(vocabulary=["a", "b"])
    for given in (["b", "?"], np.array(["b", "?"], object)):
        found = lookup(given)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [2, 0]
    assert isinstance(Normalization()(REALS), np.ndarray)
    assert isinstance(Normalization()(jnp.asarray(REALS)), jax.Array)
    data = replax.data.Dataset.from_tensor_slices(["b", "a"]).batch(2)
    assert [x.tolist() for x in data.map(lookup)] == [[2, 1]]


def model_of_everything() -> Any:
    ids, reals = keras.Input((2,), dtype="int32"), keras.Input((2,))
    scaled = Normalization()
    scaled.adapt(REALS)
    outputs = [
        IntegerLookup(vocabulary=[5, 7], output_mode="multi_hot")(ids),
        IntegerLookup(vocabulary=[5, 7])(ids),
        Hashing(7, output_mode="count")(ids),
        CategoryEncoding(10)(ids),
        Discretization([0.0, 1.0], output_mode="one_hot")(reals),
        scaled(reals),
    ]
    return keras.Model([ids, reals], outputs)


def test_numbers_can_be_prepared_in_a_model() -> None:
    model = model_of_everything()
    assert model.output_shape == [
        (None, 3),
        (None, 2),
        (None, 7),
        (None, 10),
        (None, 2, 3),
        (None, 2),
    ]
    found = model.predict([IDS, REALS], verbose=0)
    assert found[0].tolist() == [[1, 1, 0], [0, 0, 1]]
    assert found[1].tolist() == [[1, 0], [2, 2]]
    assert found[2].tolist() == Hashing(7, output_mode="count")(IDS).tolist()
    np.testing.assert_allclose(found[5], (REALS - REALS.mean(0)) / REALS.std(0))


def test_a_saved_model_has_what_they_learned(tmp_path: Path) -> None:
    path = str(tmp_path / "model.keras")
    model = model_of_everything()
    model.save(path)
    found = model.predict([IDS, REALS], verbose=0)
    loaded: Any = keras.models.load_model(path)
    again = loaded.predict([IDS, REALS], verbose=0)
    jax.tree.map(np.testing.assert_array_equal, found, again)
    # Before any layer is made, in a program that has the layers by name only.
    program = f"""
import keras, replax, numpy as np
replax.keras.layers
model = keras.models.load_model({path!r})
found = model.predict([np.array({IDS.tolist()}), np.zeros((2, 2))], verbose=0)
print(found[0].tolist())
"""
    assert run_python("-c", program).strip() == str(found[0].tolist())


def test_a_model_trains_behind_them() -> None:
    data = np.random.default_rng(0).normal(5.0, 3.0, (64, 3)).astype(np.float32)
    scaled = Normalization()
    scaled.adapt(data)
    model: Any = keras.Sequential([keras.Input((3,)), scaled, keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    losses = model.fit(data, data[:, :1], epochs=5, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_they_compute_with_the_dtype_of_a_policy() -> None:
    layer = Normalization(mean=1.0, variance=4.0, dtype="mixed_float16")
    assert layer(jnp.asarray(REALS)).dtype == jnp.float16
    again = Normalization.from_config(layer.get_config())
    assert again(jnp.asarray(REALS)).dtype == jnp.float16


def test_copies_and_pickles_are_layers_too() -> None:
    lookup = StringLookup(vocabulary=["a", "b"], name="letters")
    for other in (copy.deepcopy(lookup), pickle.loads(pickle.dumps(lookup))):
        assert isinstance(other, keras.layers.Layer)
        assert other.name == "letters"
        assert other(["b"]).tolist() == [2]


def test_worker_processes_get_them_without_keras() -> None:
    lookup = StringLookup(vocabulary=["a", "b"])
    assert isinstance(lookup, keras.layers.Layer)

    def looked_up(x: Any) -> Any:
        import sys

        return lookup(x) if "keras" not in sys.modules else x

    options = replax.data.Options()
    options.worker_processes = 1
    data = replax.data.Dataset.from_tensor_slices(["b", "a"]).batch(2).map(looked_up)
    assert [x.tolist() for x in data.with_options(options)] == [[2, 1]]


def test_configurations_of_layers_of_keras_are_taken() -> None:
    theirs = keras.layers.Discretization(bin_boundaries=[0.0, 1.0], output_mode="count")
    ours = Discretization.from_config(theirs.get_config())
    np.testing.assert_array_equal(ours(REALS), theirs(REALS))
    scaled = keras.layers.Normalization(mean=1.0, variance=4.0)
    np.testing.assert_allclose(
        Normalization.from_config(scaled.get_config())(REALS), scaled(REALS)
    )


def test_the_layers_of_keras_that_need_no_tensorflow_can_be_mapped() -> None:
    scaled = keras.layers.Normalization()
    scaled.adapt(REALS)
    layers = [
        scaled,
        keras.layers.Discretization(bin_boundaries=[0.0, 1.0]),
        keras.layers.Rescaling(0.5),
    ]
    for layer in layers:
        data = replax.data.Dataset.from_tensor_slices(REALS).batch(2).map(layer)
        (found,) = list(data)
        np.testing.assert_array_equal(found, np.asarray(layer(REALS)))


def test_strings_are_no_input_of_a_model() -> None:
    words = keras.Input((1,), dtype="string", name="words")
    message = "StringLookup got the model's input 'words'.*in Dataset.map, and give"
    with pytest.raises(TypeError, match=message):
        StringLookup(vocabulary=["a"])(words)


def test_without_keras_they_are_plain() -> None:
    program = """
import sys
import replax
lookup = replax.keras.layers.StringLookup(vocabulary=["a", "b"])
data = replax.data.Dataset.from_tensor_slices(["b", "a"]).batch(2).map(lookup)
print([x.tolist() for x in data], type(lookup).__mro__[-1].__name__)
strategy = replax.distribute.MirroredStrategy()
with strategy.scope():
    replax.keras.layers.Normalization().adapt([[1.0], [2.0]])
assert not {"keras", "tensorflow"} & sys.modules.keys()
"""
    assert run_python("-c", program).strip() == "[[2, 1]] object"


def test_where_keras_computes_with_something_else_they_are_plain() -> None:
    program = """
import os
os.environ["KERAS_BACKEND"] = "numpy"
import keras
import replax
lookup = replax.keras.layers.StringLookup(vocabulary=["a", "b"])
print(lookup(["b"]).tolist(), isinstance(lookup, keras.layers.Layer))
"""
    assert run_python("-c", program).strip() == "[2] False"
