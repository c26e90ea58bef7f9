"""Keras's fit, evaluate and predict on several workers, as on one process.

On TensorFlow 2.21 a model of Keras crashes at the first batch with several workers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import replax
from keras_training import check_equal_histories, classifier, rows
from replax.testing import run_processes

COUNT = 65


def normalised() -> Any:
    import keras

    return classifier(
        keras.layers.BatchNormalization, lambda: keras.layers.Dropout(0.2)
    )


def seen_of(model: Any, data: dict[str, Any]) -> Any:
    """What a model says after it was trained on arrays, and then on other data."""
    x, y = rows(COUNT)
    options: Any = {"verbose": 2}
    first = model.fit(x, y, batch_size=32, epochs=2, shuffle=False, **options).history
    second = model.fit(
        **data, epochs=2, shuffle=False, validation_data=(x, y), **options
    ).history
    scores = model.evaluate(**data, return_dict=True, verbose=0)
    data.pop("y", None)
    return first, second, scores, model.predict(**data, verbose=0), model.get_weights()


def on_a_worker() -> Any:
    strategy = replax.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = normalised()
        if strategy.cluster_resolver.task_id:
            # What a worker begins with besides does not count: the first one's does.
            model.set_weights([w + 1 for w in model.get_weights()])
    data = replax.data.Dataset.from_tensor_slices(rows(COUNT)).batch(32)
    return seen_of(model, {"x": data})


@functools.cache
def alone() -> Any:
    x, y = rows(COUNT)
    return seen_of(normalised(), {"x": x, "y": y, "batch_size": 32})


@pytest.mark.parametrize("workers", [2, 3])
def test_training_is_that_of_one_process(workers: int) -> None:
    devices = 2 if workers == 2 else 1
    result = run_processes(workers, on_a_worker, devices=devices, timeout=280)
    for first, second, scores, predictions, weights in result.values:
        check_equal_histories(first, alone()[0])
        check_equal_histories(second, alone()[1])
        check_equal_histories(scores, alone()[2])
        np.testing.assert_allclose(predictions, alone()[3], rtol=1e-4, atol=1e-5)
        for given, wanted in zip(weights, alone()[4], strict=True):
            np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)
    printed = [text.count("loss:") for text in result.outputs]
    assert printed[0] > 0
    assert not any(printed[1:])
