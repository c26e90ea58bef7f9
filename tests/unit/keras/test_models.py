"""Models of every kind, and every way to train them, as on one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

from keras_training import (
    CLASSES,
    WIDTH,
    all_state,
    check_equal_histories,
    check_equal_state,
    classifier,
    compile_classifier,
    in_scope,
    mirrored,
    rows,
)

X, Y = rows(21)


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.inner = keras.layers.Dense(8, activation="tanh")
        self.norm = keras.layers.BatchNormalization()
        self.outer = keras.layers.Dense(CLASSES)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.outer(self.norm(self.inner(x), training=training))


class OwnStep(Subclassed):
    """A model that says itself what a step is."""

    def train_step(self, state: Any, data: Any) -> Any:
        own: Any = super()
        logs, state = own.train_step(state, data)
        return {**logs, "rows": data[0].shape[0]}, state


def subclassed() -> Any:
    keras.utils.set_random_seed(3)
    model = Subclassed()
    compile_classifier(model)
    return model


def with_own_step() -> Any:
    keras.utils.set_random_seed(3)
    model = OwnStep()
    compile_classifier(model)
    return model


def convolutional() -> Any:
    keras.utils.set_random_seed(3)
    model = keras.Sequential(
        [
            keras.Input((WIDTH,)),
            keras.layers.Reshape((WIDTH, 1)),
            keras.layers.Conv1D(3, 2, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(CLASSES),
        ]
    )
    compile_classifier(model, optimizer=keras.optimizers.Adam(0.01))
    return model


@pytest.mark.parametrize("make", [subclassed, with_own_step, convolutional])
def test_kinds_of_models(make: Callable[[], Any]) -> None:
    seen = []
    for model in (in_scope(3, make), make()):
        history = model.fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0)
        seen.append((model, history.history))
    check_equal_histories(seen[0][1], seen[1][1])
    check_equal_state(seen[0][0], seen[1][0])


def test_a_model_that_was_never_compiled_or_built_predicts() -> None:
    def make() -> Any:
        keras.utils.set_random_seed(3)
        return Subclassed()

    given, wanted = (
        m.predict(X, batch_size=8, verbose=0) for m in (in_scope(3, make), make())
    )
    np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-6)


def many_ended() -> Any:
    keras.utils.set_random_seed(3)
    left, right = keras.Input((WIDTH,), name="left"), keras.Input((2,), name="right")
    both = keras.layers.Concatenate()([left, right])
    model = keras.Model(
        {"left": left, "right": right},
        {
            "kind": keras.layers.Dense(CLASSES, name="kind")(both),
            "size": keras.layers.Dense(1, name="size")(both),
        },
    )
    model.compile(
        "adam",
        loss={
            "kind": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            "size": "mse",
        },
        metrics={"kind": ["accuracy"], "size": ["mae"]},
    )
    return model


def test_several_inputs_and_outputs_with_weights() -> None:
    x = {"left": X, "right": X[:, :2] * 2}
    y = {"kind": Y, "size": X.sum(1, keepdims=True)}
    weight = {"kind": np.linspace(0, 1, 21), "size": np.linspace(1, 0, 21)}
    seen = []
    for model in (in_scope(3, many_ended), many_ended()):
        history = model.fit(
            x, y, sample_weight=weight, batch_size=8, shuffle=False, verbose=0
        )
        seen.append((history.history, model.predict(x, batch_size=8, verbose=0)))
    check_equal_histories(seen[0][0], seen[1][0])
    for name, wanted in seen[1][1].items():
        np.testing.assert_allclose(seen[0][1][name], wanted, rtol=1e-4, atol=1e-5)


WAYS: dict[str, dict[str, Any]] = {
    "sample_weight": {"sample_weight": np.linspace(0, 2, 21)},
    "class_weight": {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}},
    "steps_per_epoch": {"steps_per_epoch": 2, "epochs": 3},
    "validation_split": {"validation_split": 0.3},
    "validation_data": {"validation_data": (X[:9], Y[:9]), "validation_steps": 1},
    "shuffle": {"shuffle": True},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_ways_to_fit(way: str) -> None:
    options = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0}
    histories = []
    for model in (in_scope(3, classifier), classifier()):
        keras.utils.set_random_seed(5)
        histories.append(model.fit(X, Y, **{**options, **WAYS[way]}).history)
    check_equal_histories(*histories)


COMPILED: dict[str, dict[str, Any]] = {
    "steps_per_execution": {"steps_per_execution": 2},
    "run_eagerly": {"run_eagerly": True},
    "weighted metrics": {"weighted_metrics": ["accuracy"]},
    "auc": {
        "loss": "mse",
        "metrics": [keras.metrics.AUC(num_thresholds=5, from_logits=True)],
    },
    "clipped": {"optimizer": {"class_name": "Adam", "config": {"clipnorm": 0.1}}},
    "averaged": {"optimizer": {"class_name": "SGD", "config": {"use_ema": True}}},
}


@pytest.mark.parametrize("how", COMPILED)
def test_ways_to_compile(how: str) -> None:
    y = keras.utils.to_categorical(Y, CLASSES) if how == "auc" else Y
    seen = []
    for replicas in (3, 0):
        model = in_scope(replicas, lambda: classifier(**COMPILED[how]))
        options: Any = {"batch_size": 8, "verbose": 0}
        history = model.fit(X, y, epochs=2, shuffle=False, **options).history
        # Keras alone deletes averages that it has put into the model when it predicts.
        seen.append((history, all_state(model), model.predict(X, **options)))
    check_equal_histories(seen[0][0], seen[1][0])
    for given, wanted in zip(seen[0][1], seen[1][1], strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(seen[0][2], seen[1][2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_mixed_precision(policy: str) -> None:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        histories = [
            in_scope(replicas, classifier)
            .fit(X, Y, batch_size=8, epochs=2, shuffle=False, verbose=0)
            .history
            for replicas in (3, 0)
        ]
    finally:
        keras.config.set_dtype_policy(before)
    for name, values in histories[1].items():
        # Half a precision: sums of rows differ in the third digit.
        np.testing.assert_allclose(histories[0][name], values, rtol=2e-2, atol=1e-2)


def test_fit_in_the_scope_and_outside_of_it_are_the_same() -> None:
    inside = in_scope(2, classifier)
    with mirrored(2).scope():
        one = inside.fit(X, Y, batch_size=8, shuffle=False, verbose=0).history
    other = in_scope(2, classifier).fit(X, Y, batch_size=8, shuffle=False, verbose=0)
    check_equal_histories(one, other.history)


def test_one_compile_for_each_number_of_rows() -> None:
    import jax

    model = in_scope(2, classifier)
    compiles: list[Any] = []

    def listen(event: str, duration_secs: float, **kwargs: Any) -> None:
        del duration_secs
        compiles.append((event, kwargs))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    names = [
        kw.get("fun_name")
        for n, kw in compiles
        if n.endswith("backend_compile_duration")
    ]
    assert names.count("jit(_traced)") <= 2, names
