"""Keras's fit, evaluate and predict on several workers, as on one process.

On TensorFlow 2.21 a model of Keras crashes at the first batch with several workers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import replax
from keras_training import (
    CLASSES,
    WIDTH,
    check_equal_histories,
    classifier,
    mirrored,
    rows,
)
from replax.testing import run_processes

COUNT, STEPPED = 65, 32


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


class Loop:
    """A model and what trains it in a step of ``strategy.run``."""

    def __init__(self) -> None:
        import keras

        keras.utils.set_random_seed(7)
        self.model: Any = keras.Sequential(
            [
                keras.Input((WIDTH,)),
                keras.layers.Dense(8, activation="tanh"),
                keras.layers.BatchNormalization(momentum=0.5),
                keras.layers.Dropout(0.2, seed=3),
                keras.layers.Dense(CLASSES),
            ]
        )
        self.optimizer: Any = keras.optimizers.Adam(0.01)
        self.optimizer.build(self.model.trainable_variables)
        self.accuracy: Any = keras.metrics.SparseCategoricalAccuracy()
        self.losses: Any = keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none"
        )

    def step(self, x: Any, y: Any) -> Any:
        import jax

        model = self.model

        def loss(trainable: Any, others: Any) -> Any:
            logits, others = model.stateless_call(trainable, others, x, training=True)
            return self.losses(y, logits).sum() / STEPPED, (logits, others)

        (value, (logits, others)), gradients = jax.value_and_grad(loss, has_aux=True)(
            [v.value for v in model.trainable_variables],
            [v.value for v in model.non_trainable_variables],
        )
        for variable, new in zip(model.non_trainable_variables, others, strict=True):
            variable.assign(new)
        self.optimizer.apply(gradients, model.trainable_variables)
        self.accuracy.update_state(y, logits)
        return value


def stepped(strategy: Any) -> Any:
    """What a compiled loop leaves, at whose last step only one replica has rows."""
    with strategy.scope():
        loop = Loop()
        if getattr(strategy.cluster_resolver, "task_id", 0):
            loop.model.set_weights([w + 1 for w in loop.model.get_weights()])

    @replax.function
    def train(x: Any, y: Any) -> Any:
        losses = strategy.run(loop.step, args=(x, y))
        return strategy.reduce("SUM", losses, axis=None)

    losses: list[float] = []
    data = replax.data.Dataset.from_tensor_slices(rows(COUNT)).batch(STEPPED)
    for _ in range(2):
        for x, y in strategy.experimental_distribute_dataset(data):
            losses.append(float(train(x, y)))
    state = [*loop.model.variables, *loop.optimizer.variables, *loop.accuracy.variables]
    return losses, float(loop.accuracy.result()), [np.asarray(v.value) for v in state]


def stepped_on_a_worker() -> Any:
    return stepped(replax.distribute.MultiWorkerMirroredStrategy())


def test_a_loop_of_ones_own_is_that_of_one_process_with_as_many_replicas() -> None:
    result = run_processes(2, stepped_on_a_worker, devices=2, timeout=280)
    losses, accuracy, state = stepped(mirrored(4))
    assert len(losses) == 2 * -(-COUNT // STEPPED)
    for given in result.values:
        np.testing.assert_allclose(given[0], losses, rtol=1e-4, atol=1e-5)
        assert given[1] == pytest.approx(accuracy)
        for one, other in zip(given[2], state, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
