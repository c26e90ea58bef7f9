from __future__ import annotations

import collections
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from positions import check_positions, nest_equal
from replax.data import as_dataset

tf: Any = pytest.importorskip("tensorflow")

Point = collections.namedtuple("Point", ["x", "y"])  # noqa: PYI024


def test_elements_and_positions() -> None:
    def make() -> Any:
        columns = {"x": np.arange(14.0).reshape(7, 2), "s": [f"t{i}" for i in range(7)]}
        return as_dataset(tf.data.Dataset.from_tensor_slices(columns))

    assert len(make()) == 7
    assert make().element_spec == {
        "x": replax.TensorSpec((2,), "float64"),
        "s": replax.TensorSpec((), object),
    }
    elements = check_positions(make)
    assert nest_equal(elements[3], {"x": np.array([6.0, 7.0]), "s": b"t3"})
    batches = check_positions(lambda: make().batch(3).repeat(2))
    assert len(batches) == 6
    assert batches[0]["s"].tolist() == [b"t0", b"t1", b"t2"]


def test_batches_of_tf_data() -> None:
    def make() -> Any:
        numbers = tf.data.Dataset.range(9).shuffle(
            4, seed=2, reshuffle_each_iteration=False
        )
        pairs = numbers.map(lambda x: (Point(x, [x, x]), tf.strings.as_string(x)))
        return as_dataset(pairs.batch(4))

    batches = check_positions(make)
    assert isinstance(batches[0][0], Point)
    assert batches[0][0].y.shape == (4, 2)
    assert batches[0][1].dtype == object
    assert sorted(np.concatenate([b[0].x for b in batches])) == list(range(9))
    assert make().element_spec[0].y == replax.TensorSpec((None, 2), "int64")


def test_what_is_known_is_taken_over_without_reading() -> None:
    read: list[int] = []

    def numbers() -> Any:
        read.append(1)
        yield 1

    spec = tf.TensorSpec([None], tf.bfloat16)
    source = tf.data.Dataset.from_generator(numbers, output_signature=spec)
    dataset = as_dataset(source)
    assert dataset.element_spec == replax.TensorSpec((None,), jnp.bfloat16)
    assert dataset.cardinality() == replax.data.UNKNOWN_CARDINALITY
    endless = as_dataset(tf.data.Dataset.range(3).repeat())
    assert endless.cardinality() == replax.data.INFINITE_CARDINALITY
    unknown = tf.data.Dataset.from_generator(
        numbers, output_signature=tf.TensorSpec(None, tf.int32)
    )
    assert as_dataset(unknown).element_spec == replax.TensorSpec(None, "int32")
    assert not read
    with pytest.raises(TypeError, match="leave element_spec out"):
        as_dataset(source, element_spec=replax.TensorSpec((), "int32"))


def test_ragged_sparse_and_nested_are_refused() -> None:
    ragged = tf.data.Dataset.from_tensors({"x": 1, "r": tf.ragged.constant([[1], []])})
    with pytest.raises(TypeError, match=r"\['r'\] of them is ragged.*to_tensor\(\)"):
        as_dataset(ragged)
    sparse = tf.data.Dataset.from_tensors(tf.sparse.from_dense([[1, 0]]))
    with pytest.raises(TypeError, match=r"each of them is sparse.*tf.sparse.to_dense"):
        as_dataset(sparse)
    with pytest.raises(TypeError, match="is a dataset; use flat_map"):
        as_dataset(tf.data.Dataset.range(3).window(2))


def test_errors_say_which_element() -> None:
    checked = tf.data.Dataset.range(4).map(
        lambda x: tf.debugging.check_numerics(
            tf.math.log(tf.cast(2 - x, "float32")), ""
        )
    )
    iterator = iter(as_dataset(checked))
    assert [next(iterator).dtype for _ in range(2)] == [np.float32] * 2
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            next(iterator)
        assert "tf.data.Dataset), for element 2" in caught.value.__notes__[-1]


def test_a_cardinality_that_lies_is_an_error() -> None:
    def numbers() -> Any:
        yield from range(3)

    spec = tf.TensorSpec([], tf.int32)
    source = tf.data.Dataset.from_generator(numbers, output_signature=spec)
    claimed = source.apply(tf.data.experimental.assert_cardinality(5))
    with pytest.raises(Exception, match=r"5.*3"):
        list(as_dataset(claimed))


def test_steps_follow() -> None:
    source = tf.data.Dataset.range(6)
    dataset = as_dataset(source).map(lambda x: x * 2).shuffle(6, seed=1).batch(4)
    batches = check_positions(lambda: dataset)
    assert sorted(np.concatenate(batches)) == [0, 2, 4, 6, 8, 10]
