"""Training loops of one's own over Keras models, with strategy.run."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import replax
from keras_training import CLASSES, WIDTH, check_equal_state, in_scope, mirrored, rows

COUNT, BATCH = 33, 8
X, Y = rows(COUNT)


class Loop:
    """A model with all that training it takes, made in the scope of a strategy."""

    def __init__(self, *between: Any, optimizer: Any = None) -> None:
        keras.utils.set_random_seed(7)
        self.model: Any = keras.Sequential(
            [
                keras.Input((WIDTH,)),
                keras.layers.Dense(8, activation="tanh"),
                *(make() for make in between),
                keras.layers.Dense(CLASSES),
            ]
        )
        self.optimizer: Any = keras.optimizers.get(optimizer or "adam")
        self.accuracy = keras.metrics.SparseCategoricalAccuracy()
        self.mean_loss = keras.metrics.Mean()
        self.losses: Any = keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none"
        )

    def step(self, x: Any, y: Any, total: Any) -> Any:
        model = self.model

        def loss(trainable: Any, others: Any) -> Any:
            logits, others = model.stateless_call(trainable, others, x, training=True)
            each = self.losses(y, logits)
            return each.sum() / total, (each, logits, others)

        (value, (each, logits, others)), gradients = jax.value_and_grad(
            loss, has_aux=True
        )(
            [v.value for v in model.trainable_variables],
            [v.value for v in model.non_trainable_variables],
        )
        for variable, new in zip(model.non_trainable_variables, others, strict=True):
            variable.assign(new)
        self.optimizer.apply(gradients, model.trainable_variables)
        self.accuracy.update_state(y, logits)
        self.mean_loss.update_state(each)
        return value


def trained(
    replicas: int, *between: Any, compiled: bool, optimizer: Any = None
) -> tuple[Loop, list[float]]:
    strategy = mirrored(replicas)
    loop = in_scope(replicas, lambda: Loop(*between, optimizer=optimizer))

    def train(x: Any, y: Any, total: Any) -> Any:
        losses = strategy.run(loop.step, args=(x, y, total))
        return strategy.reduce("SUM", losses, axis=None)

    run = replax.function(train) if compiled else train
    dataset = replax.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)
    losses = []
    for _ in range(2):
        loop.accuracy.reset_state()
        loop.mean_loss.reset_state()
        data = strategy.experimental_distribute_dataset(dataset)
        for number, (x, y) in enumerate(data):
            total = min(BATCH, COUNT - number * BATCH)
            losses.append(float(run(x, y, np.float32(total))))
    return loop, losses


def check_equal(given: Any, wanted: Any) -> None:
    np.testing.assert_allclose(given[1], wanted[1], rtol=1e-5, atol=1e-6)
    for metric in ("accuracy", "mean_loss"):
        np.testing.assert_allclose(
            getattr(given[0], metric).result(),
            getattr(wanted[0], metric).result(),
            rtol=1e-5,
        )
    for part in ("model", "optimizer"):
        for one, other in zip(
            getattr(given[0], part).variables,
            getattr(wanted[0], part).variables,
            strict=True,
        ):
            np.testing.assert_allclose(one.value, other.value, rtol=1e-4, atol=1e-5)


def test_gradients_are_summed_once_and_metrics_are_those_of_all_rows() -> None:
    wanted = trained(1, compiled=True)
    for replicas, compiled in ((2, True), (3, True), (3, False), (1, False)):
        check_equal(trained(replicas, compiled=compiled), wanted)


def test_an_optimizer_around_another_one_sums_once_too() -> None:
    def scaled() -> Any:
        inner = keras.optimizers.SGD(0.1)
        return keras.optimizers.LossScaleOptimizer(inner, initial_scale=1.0)

    loops = [trained(r, compiled=True, optimizer=scaled()) for r in (2, 1)]
    check_equal(*loops)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "eager"])
def test_statistics_are_averaged_over_the_replicas_that_have_rows(
    compiled: bool,
) -> None:
    strategy = mirrored(3)
    with strategy.scope():
        norm: Any = keras.layers.BatchNormalization(momentum=0.0, epsilon=0.0)
        norm.build((None, 1))

    def step(x: Any) -> Any:
        return norm(x, training=True)

    def run(x: Any) -> Any:
        return strategy.run(step, args=(x,))

    x = np.array([[1.0], [3.0], [10.0], [20.0]], np.float32)  # 2, 2 and 0 rows
    dataset = replax.data.Dataset.from_tensor_slices(x).batch(4)
    for part in strategy.experimental_distribute_dataset(dataset):
        (replax.function(run) if compiled else run)(part)
    np.testing.assert_allclose(norm.moving_mean.value, [(2 + 15) / 2])
    np.testing.assert_allclose(norm.moving_variance.value, [(1 + 25) / 2])


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "eager"])
def test_replicas_drop_different_numbers_and_go_on(compiled: bool) -> None:
    strategy = mirrored(3)
    with strategy.scope():
        dropout = keras.layers.Dropout(0.5, seed=1)

    def step() -> Any:
        return dropout(np.ones(64, np.float32), training=True)

    def run() -> Any:
        return strategy.run(step)

    run = replax.function(run) if compiled else run
    seen = [
        np.asarray(part).tobytes()
        for _ in range(3)
        for part in strategy.experimental_local_results(run())
    ]
    assert len(set(seen)) == 9
    assert dropout.seed_generator.state.value.tolist() == [1, 3]


def test_what_is_changed_between_steps_is_seen_by_the_next_one() -> None:
    strategy = mirrored(2)
    with strategy.scope():
        layer: Any = keras.layers.Dense(1, use_bias=False)
        layer.build((None, 1))

    @replax.function
    def run(x: Any) -> Any:
        return strategy.run(layer, args=(x,))

    x = np.ones((1, 1), np.float32)
    for weight in (2.0, 5.0):
        layer.kernel.assign([[weight]])
        assert all(
            float(part[0, 0]) == weight
            for part in strategy.experimental_local_results(run(x))
        )


def test_replicas_that_assign_different_weights_are_refused() -> None:
    strategy = mirrored(2)
    with strategy.scope():
        layer: Any = keras.layers.Dense(1, name="drifting")
        layer.build((None, 1))

    def step() -> None:
        replica = replax.distribute.get_replica_context().replica_id_in_sync_group
        layer.bias.assign(jax.numpy.ones(1) * replica)

    with pytest.raises(ValueError, match="drifting/bias"):
        replax.function(lambda: strategy.run(step))()
    with pytest.raises(ValueError, match="drifting/bias"):
        strategy.run(step)


def test_arrays_that_were_taken_before_a_step_stay() -> None:
    loop, _ = trained(2, compiled=True)
    held = loop.model.trainable_variables[0].value
    before = np.array(held)
    run = replax.function(
        lambda: mirrored(2).run(loop.step, args=(X[:2], Y[:2], np.float32(4)))
    )
    run()
    np.testing.assert_array_equal(held, before)


def test_a_model_may_be_fitted_and_stepped_in_turn() -> None:
    loop, _ = trained(2, compiled=True)
    other, _ = trained(1, compiled=True)
    for given in (loop, other):
        given.model.compile(
            given.optimizer,
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
        given.model.fit(X, Y, batch_size=BATCH, shuffle=False, verbose=0)
    check_equal_state(loop.model, other.model)


def test_strings_pass_through_where_keras_is_there() -> None:
    strategy = mirrored(2)
    names = strategy.experimental_distribute_values_from_function(
        lambda c: np.array([f"r{c.replica_id_in_sync_group}"])
    )

    @replax.function
    def train(names: Any) -> Any:
        return strategy.run(lambda n: (n, jnp.ones(())), args=(names,))

    passed, _ = train(names)
    assert [str(n[0]) for n in strategy.experimental_local_results(passed)] == [
        "r0",
        "r1",
    ]
