"""Whatever the number of rows, training is that of one device."""

from __future__ import annotations

import functools
from typing import Any

import keras
import numpy as np
import pytest

from keras_training import (
    CLOSE,
    all_state,
    check_equal_histories,
    check_equal_state,
    classifier,
    in_scope,
    restore,
    rows,
)

BATCH = 32


def normalised() -> Any:
    return classifier(
        keras.layers.BatchNormalization, lambda: keras.layers.Dropout(0.2)
    )


@functools.cache
def model_and_state(replicas: int) -> tuple[Any, list[Any]]:
    model = in_scope(replicas, normalised)
    model.optimizer.build(model.trainable_variables)
    return model, all_state(model)


@functools.cache
def trained(replicas: int, count: int) -> tuple[Any, ...]:
    """A model that was trained on so many rows, and what was seen of it."""
    model, state = model_and_state(replicas)
    restore(model, state)
    x, y = rows(count)
    options: Any = {"batch_size": BATCH, "verbose": 0}
    history = model.fit(
        x, y, epochs=2, shuffle=False, validation_data=(x, y), **options
    ).history
    scores = model.evaluate(x, y, return_dict=True, **options)
    return history, scores, model.predict(x, **options), all_state(model)


@pytest.mark.parametrize(
    ("replicas", "count"),
    [(1, 65), (2, 65), (2, 33), (3, 31), (3, 65), (4, 1), (4, 33), (4, 65)],
)
def test_training_is_that_of_one_device(replicas: int, count: int) -> None:
    history, scores, predictions, state = trained(replicas, count)
    alone = trained(0, count)
    check_equal_histories(history, alone[0])
    check_equal_histories(scores, alone[1])
    np.testing.assert_allclose(predictions, alone[2], rtol=1e-4, atol=1e-5)
    # The moments of batch normalization among them.
    for given, wanted in zip(state, alone[3], strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)


def test_keras_itself_refuses_a_last_batch_that_does_not_divide() -> None:
    """What this is for; when Keras learns it, much of it can go."""
    devices = [f"cpu:{i}" for i in range(2)]
    distribution = keras.distribution.DataParallel(devices=devices)
    x, y = rows(33)
    with distribution.scope():
        model = classifier()
        with pytest.raises(Exception, match="evenly divide"):
            model.fit(x, y, batch_size=BATCH, verbose=0)


def test_predictions_come_in_the_order_of_the_rows() -> None:
    def copying() -> Any:
        inputs = keras.Input((1,))
        return keras.Model(inputs, keras.layers.Identity()(inputs))

    model = in_scope(4, copying)
    x = np.arange(65, dtype=np.float32)[:, None]
    given = model.predict(x, batch_size=32, verbose=0)
    np.testing.assert_array_equal(given, x)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_one_batch_may_be_smaller_than_the_number_of_replicas(size: int) -> None:
    x, y = rows(size)
    model, alone = in_scope(4, classifier), classifier()
    for given in (model, alone):
        given.train_on_batch(x, y)
    check_equal_histories(
        model.test_on_batch(x, y, return_dict=True),
        alone.test_on_batch(x, y, return_dict=True),
    )
    given = model.predict_on_batch(x)
    np.testing.assert_allclose(given, alone.predict_on_batch(x), **CLOSE)
    check_equal_state(model, alone)


def test_many_steps_are_never_too_many_in_flight() -> None:
    """Hundreds of steps that nobody waits for: without a window XLA aborts."""
    model = in_scope(8, lambda: classifier(metrics=[]))
    x, y = rows(64)
    data = [(x, y)] * 600
    model.fit((pair for pair in data), steps_per_epoch=600, shuffle=False, verbose=0)
    assert int(model.optimizer.iterations.value) == 600


def test_the_work_is_split_over_the_replicas() -> None:
    """The rows that a device computes with are its own."""
    seen: list[Any] = []

    class Looking(keras.layers.Layer):
        def call(self, x: Any) -> Any:
            import jax

            jax.debug.inspect_array_sharding(x, callback=seen.append)
            return x

    model = in_scope(2, lambda: classifier(Looking))
    x, y = rows(64)
    model.fit(x, y, batch_size=64, verbose=0)
    assert seen
    assert all(s.shard_shape((64, 8)) == (32, 8) for s in seen)
