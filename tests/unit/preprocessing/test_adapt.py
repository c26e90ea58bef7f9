"""Learning from data of every kind, and from distributed data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import replax
from replax.data import Dataset
from replax.keras.layers import (
    Discretization,
    IntegerLookup,
    Normalization,
    StringLookup,
)

WORDS = np.array([f"w{i * i % 7}" for i in range(33)], object)
# No device holds these without 64-bit values.
IDS = np.array([i * i % 5 for i in range(33)]) + 2**40
ROWS = np.random.default_rng(0).normal(3.0, 2.0, (33, 4))
MOST_FREQUENT = ["w4", "w2", "w1", "w0"]


def halves(data: np.ndarray) -> Iterator[np.ndarray]:
    yield data[:16]
    yield data[16:]


SOURCES: dict[str, Callable[[np.ndarray], Any]] = {
    "array": lambda data: data,
    "batches": lambda data: Dataset.from_tensor_slices(data).batch(8),
    "elements": Dataset.from_tensor_slices,
    "generator": halves,
    "foreign": lambda data: replax.data.as_dataset(lambda: halves(data)),
}


@pytest.mark.parametrize("source", SOURCES)
def test_tokens_are_found_in_every_kind_of_data(source: str) -> None:
    words, ids = StringLookup(), IntegerLookup()
    words.adapt(SOURCES[source](WORDS))
    ids.adapt(SOURCES[source](IDS))
    assert sorted(words.get_vocabulary()[1:]) == ["w0", "w1", "w2", "w4"]
    assert words.get_vocabulary()[-1] == "w0"
    assert ids.get_vocabulary() == [-1, 2**40 + 4, 2**40 + 1, 2**40]


@pytest.mark.parametrize("source", SOURCES)
def test_moments_are_found_in_every_kind_of_data(source: str) -> None:
    layer = Normalization()
    layer.adapt(SOURCES[source](ROWS))
    np.testing.assert_allclose(layer.mean, ROWS.mean(axis=0))
    np.testing.assert_allclose(layer.variance, ROWS.var(axis=0))


def test_as_many_batches_are_read_as_asked_for() -> None:
    words = StringLookup()
    words.adapt(Dataset.from_tensor_slices(["a", "b", "c"]).repeat().batch(2), steps=1)
    assert words.get_vocabulary() == ["[UNK]", "b", "a"]
    with pytest.raises(ValueError, match=r"steps of StringLookup.adapt is 0; give how"):
        words.adapt(Dataset.from_tensor_slices(["a"]).batch(1), steps=0)


def test_labels_beside_the_data_are_left_out_of_moments_only() -> None:
    pairs = Dataset.from_tensor_slices((ROWS, ROWS[:, 0])).batch(5)
    layer = Normalization()
    layer.adapt(pairs)
    np.testing.assert_allclose(layer.mean, ROWS.mean(axis=0))
    with pytest.raises(TypeError, match=r"several parts, a tuple.*map\(lambda x, y: x"):
        IntegerLookup().adapt(pairs)


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_distributed_data_teach_what_the_data_do(replicas: int) -> None:
    strategy = replax.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])

    def spread(data: Any) -> Any:
        batches = Dataset.from_tensor_slices(data).batch(8)
        return strategy.experimental_distribute_dataset(batches)

    with strategy.scope():
        words, ids, moments = StringLookup(), IntegerLookup(), Normalization()
    words.adapt(spread(WORDS))
    ids.adapt(spread(IDS))
    moments.adapt(spread((ROWS, ROWS[:, 0])))
    alone = StringLookup()
    alone.adapt(WORDS)
    assert words.get_vocabulary() == alone.get_vocabulary()
    assert ids.get_vocabulary() == [-1, 2**40 + 4, 2**40 + 1, 2**40]
    np.testing.assert_allclose(moments.mean, ROWS.mean(axis=0))
    np.testing.assert_allclose(moments.variance, ROWS.var(axis=0))


def test_distributed_data_teach_documents() -> None:
    strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    documents = Dataset.from_tensor_slices(WORDS[:32].reshape(8, 4)).batch(3)
    alone, spread = (StringLookup(output_mode="tf_idf") for _ in range(2))
    alone.adapt(documents)
    spread.adapt(strategy.experimental_distribute_dataset(documents))
    given = WORDS[:32].reshape(8, 4)
    np.testing.assert_array_equal(spread(given), alone(given))


def test_boundaries_of_distributed_data_are_quantiles() -> None:
    strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    data = np.random.default_rng(1).permutation(10_000).astype(np.float32)
    layer = Discretization(num_bins=4)
    batches = Dataset.from_tensor_slices(data[:, None]).batch(999)
    layer.adapt(strategy.experimental_distribute_dataset(batches))
    assert layer.bin_boundaries is not None
    np.testing.assert_allclose(layer.bin_boundaries, [2500, 5000, 7500], atol=300)


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ([], "got no data"),
        ([ROWS, ROWS[:, :2]], r"shape \[33, 2\] after one of \[33, 4\].*axis=None"),
        (
            [np.float32(5.0)],
            r"axis=\(-1,\), and got an array with 0 axes; give axis=None",
        ),
    ],
)
def test_data_without_a_mean_are_refused(batches: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Normalization().adapt(iter(batches))


def test_what_is_no_data_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"StringLookup.adapt got 5, which is no data; give"
    ):
        StringLookup().adapt(5)
    with pytest.raises(
        ValueError, match="got no data, of which it could find boundaries"
    ):
        Discretization(num_bins=3).adapt(iter([]))
    with pytest.raises(ValueError, match=r"made with boundaries.*give num_bins"):
        Discretization(bin_boundaries=[1.0]).adapt(ROWS)


def test_nothing_is_learned_from_nothing() -> None:
    words = StringLookup()
    words.set_vocabulary(["a"])
    words.adapt(iter([]))
    assert words.get_vocabulary() == ["[UNK]", "a"]
