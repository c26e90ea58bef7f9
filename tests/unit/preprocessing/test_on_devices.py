"""Layers of numbers give on devices what they give on the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import replax
from replax.keras.layers import (
    CategoryEncoding,
    Discretization,
    Hashing,
    IntegerLookup,
    Normalization,
    StringLookup,
)
from running import Runner, compiled, eagerly, parts

IDS = np.array([[7, 9], [5, 7], [-3, 0]], np.int32)
REALS = np.array([[0.5, -1.0], [2.0, 7.25], [0.0, 1.0]], np.float32)
MODES = ("int", "one_hot", "multi_hot", "count")

pytestmark = pytest.mark.usefixtures("without_keras")

LAYERS: dict[str, tuple[Callable[[], Any], np.ndarray]] = {
    **{
        f"lookup {mode} {mask} {buckets}": (
            partial(
                IntegerLookup,
                vocabulary=[7, 5, 2**40],
                output_mode=mode,
                mask_token=mask,
                num_oov_indices=buckets,
            ),
            IDS,
        )
        for mode in MODES
        for mask in (None, 0)
        for buckets in (1, 3)
    },
    "lookup by hash": (
        partial(
            IntegerLookup, vocabulary=[7], num_oov_indices=5, oov_method="farmhash"
        ),
        IDS,
    ),
    "lookup tf_idf": (
        partial(
            IntegerLookup,
            vocabulary=[7, 5],
            output_mode="tf_idf",
            idf_weights=[0.25, 2.0],
        ),
        IDS,
    ),
    "inverse": (
        partial(IntegerLookup, vocabulary=[7, 5], invert=True, mask_token=0),
        IDS,
    ),
    **{f"hash {m}": (partial(Hashing, 5, output_mode=m), IDS) for m in MODES},
    "hash salt mask": (partial(Hashing, 5, salt=(1, 2), mask_value=0), IDS),
    "hash reals": (partial(Hashing, 50), REALS),
    **{
        f"category {m}": (partial(CategoryEncoding, 9, output_mode=m), np.abs(IDS) % 9)
        for m in MODES[1:]
    },
    **{
        f"range {m}": (partial(Discretization, [0.0, 1.0, 5.0], output_mode=m), REALS)
        for m in MODES
    },
    "scale": (partial(Normalization, mean=[1.0, 2.0], variance=[4.0, 0.0]), REALS),
    "unscale": (
        partial(Normalization, axis=None, mean=1.0, variance=4.0, invert=True),
        REALS,
    ),
    "scale nothing": (partial(Normalization), REALS),
}


@pytest.mark.parametrize("name", LAYERS)
def test_compiled_and_not_the_result_is_that_of_the_host(name: str) -> None:
    make, given = LAYERS[name]
    layer = make()
    wanted = layer(given)
    assert isinstance(wanted, np.ndarray)
    for apply in (layer, jax.jit(layer.__call__)):
        found = apply(jnp.asarray(given))
        assert isinstance(found, jax.Array)
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("run", [eagerly, compiled])
def test_a_step_can_prepare_its_own_data(run: Runner) -> None:
    strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        lookup = IntegerLookup(vocabulary=[7, 5], output_mode="count")
        hashing = Hashing(11)
    data = replax.data.Dataset.from_tensor_slices(IDS).batch(3)

    def step(ids: Any) -> Any:
        return lookup(ids), hashing(ids)

    batch = next(iter(strategy.experimental_distribute_dataset(data)))
    counts, bins = run(strategy, step, batch)
    assert np.concatenate(parts(strategy, counts)).tolist() == lookup(IDS).tolist()
    assert np.concatenate(parts(strategy, bins)).tolist() == hashing(IDS).tolist()


def test_weights_count_on_devices_too() -> None:
    layer = CategoryEncoding(3, output_mode="count")
    ids, weights = np.array([[0, 2], [2, 2]]), np.array([[0.5, 1.0], [2.0, 4.0]])
    wanted = [[0.5, 0.0, 1.0], [0.0, 0.0, 6.0]]
    assert layer(ids, count_weights=weights).tolist() == wanted
    found = layer(jnp.asarray(ids), count_weights=jnp.asarray(weights))
    assert found.tolist() == wanted
    with pytest.raises(ValueError, match='"one_hot", which counts nothing; give'):
        CategoryEncoding(3, output_mode="one_hot")(ids, count_weights=weights)


def test_what_is_no_category_is_an_error_on_the_host_and_zeros_on_devices() -> None:
    layer = CategoryEncoding(3)
    for wrong in (-1, 3):
        message = f"got {wrong}, and has 3 categories, 0 to 2; give a greater"
        with pytest.raises(replax.errors.InvalidArgumentError, match=message):
            layer([wrong, 1])
        assert layer(jnp.array([wrong, 1])).tolist() == [0.0, 1.0, 0.0]


def test_truth_is_hashed_as_a_word() -> None:
    # As TensorFlow's layer has given them.
    given = np.array([True, False])
    assert Hashing(30)(given).tolist() == [0, 17]
    assert Hashing(30)(jnp.asarray(given)).tolist() == [0, 17]


def test_what_has_no_place_has_no_number_on_devices() -> None:
    layer = IntegerLookup(vocabulary=[7], num_oov_indices=0)
    assert layer(jnp.array([7, 8])).tolist() == [0, -1]


def test_strings_are_not_looked_up_on_devices() -> None:
    message = r"StringLookup got int32\[1\] on a device.*in Dataset.map"
    with pytest.raises(TypeError, match=message):
        StringLookup(vocabulary=["a"])(jnp.array([1]))
    with pytest.raises(TypeError, match=message):
        StringLookup(vocabulary=["a"], invert=True)(jnp.array([1]))


def test_names_that_do_not_fit_on_devices_are_an_error() -> None:
    layer = IntegerLookup(vocabulary=[2**40], invert=True)
    with pytest.raises(OverflowError, match="vocabulary of integer_lookup holds 10995"):
        layer(jnp.array([1]))


@pytest.mark.parametrize(
    ("layer", "arguments", "message"),
    [
        (Hashing, {"num_bins": 0}, "num_bins of Hashing is 0; give how many, 1 or"),
        (
            Hashing,
            {"num_bins": 3, "dtype": "float32"},
            'is \'float32\'.*give "int32" or "int64"',
        ),
        (Hashing, {"num_bins": 3, "salt": (1, 2, 3)}, r"\(1, 2, 3\); give a whole"),
        (Hashing, {"num_bins": 3, "sparse": True}, "Hashing got sparse=True.*leave"),
        (CategoryEncoding, {}, "num_tokens of CategoryEncoding is None.*Integer"),
        (
            CategoryEncoding,
            {"num_tokens": 3, "sparse": True},
            "CategoryEncoding got sparse=True.*leave it out",
        ),
        (
            CategoryEncoding,
            {"num_tokens": 3, "output_mode": "int"},
            'it is one of "one_hot"',
        ),
        (Discretization, {}, "num_bins=None and bin_boundaries=None; give"),
        (
            Discretization,
            {"bin_boundaries": [1.0], "num_bins": 3},
            "num_bins=3 and bin_boundaries=.*; give",
        ),
        (Discretization, {"num_bins": 0}, "is 0; give 1 or more"),
        (
            Discretization,
            {"num_bins": 3, "sparse": True},
            "Discretization got sparse=True.*leave it out",
        ),
        (Normalization, {"mean": 1.0}, "mean=1.0 and variance=None; give both"),
        (
            Normalization,
            {"mean": [1.0, 2.0], "variance": 1.0},
            r"shape \[2\] and a variance of shape \[\].*give both in one shape",
        ),
    ],
)
def test_arguments_that_make_no_layer_are_refused(
    layer: Any, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        layer(**arguments)


def test_a_layer_that_knows_nothing_yet_says_so() -> None:
    with pytest.raises(RuntimeError, match="no boundaries yet; give bin_boundaries"):
        Discretization(num_bins=3)([1.0])
    with pytest.raises(ValueError, match=r"3 indices of axis 1.*shape \[1, 2\]; give"):
        Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 2.0, 3.0])([[1.0, 2.0]])


@pytest.mark.parametrize("name", LAYERS)
def test_configurations_make_the_same_layer(name: str) -> None:
    make, given = LAYERS[name]
    layer = make()
    other = type(layer).from_config(layer.get_config())
    np.testing.assert_array_equal(other(given), layer(given))
    assert other.get_config() == layer.get_config()


def test_what_was_learned_is_part_of_configurations() -> None:
    for layer in (Normalization(), Discretization(num_bins=2)):
        layer.adapt(REALS)
        other = type(layer).from_config(layer.get_config())
        np.testing.assert_array_equal(other(REALS), layer(REALS))
        other.adapt(REALS + 1)
        assert (other(REALS) != layer(REALS)).any()


def test_results_have_the_dtype_that_was_asked_for() -> None:
    half = Normalization(mean=1.0, variance=1.0, dtype="float16")
    assert half(REALS).dtype == np.float16
    assert half.dtype == "float16"
    assert CategoryEncoding(3, dtype="bfloat16")([1]).dtype.name == "bfloat16"
    assert Hashing(3, dtype="int32")([1]).dtype == np.int32
