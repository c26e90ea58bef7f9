"""Small Keras models that always begin alike, and rows to train them on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from replax.distribute import MirroredStrategy

CLASSES = 3
WIDTH = 4
# Sums over rows are made in another order with another number of replicas.
CLOSE: Any = {"rtol": 1e-5, "atol": 1e-6}


def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points, and classes that can be learned of them."""
    random = np.random.default_rng(count)
    x = random.normal(size=(count, WIDTH)).astype(np.float32)
    return x, np.argmax(x[:, :CLASSES], 1).astype(np.int32)


def classifier(*between: Callable[[], Any], **options: Any) -> Any:
    """A compiled classifier of ``rows``; ``between`` make layers in its middle."""
    keras.utils.set_random_seed(7)
    model = keras.Sequential(
        [
            keras.Input((WIDTH,)),
            keras.layers.Dense(8, activation="tanh"),
            *(make() for make in between),
            keras.layers.Dense(CLASSES),
        ]
    )
    compile_classifier(model, **options)
    return model


def compile_classifier(model: Any, **options: Any) -> None:
    chosen: dict[str, Any] = {
        "optimizer": keras.optimizers.SGD(0.1, momentum=0.9),
        "loss": keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        "metrics": ["accuracy"],
    }
    model.compile(**{**chosen, **options})


@functools.cache
def mirrored(replicas: int) -> MirroredStrategy:
    """A strategy over so many devices."""
    return MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def in_scope(replicas: int, make: Callable[[], Any]) -> Any:
    """What ``make`` makes in the scope of a strategy; 0 replicas are no strategy."""
    if replicas == 0:
        return make()
    with mirrored(replicas).scope():
        return make()


def all_state(model: Any) -> list[Any]:
    """What training changes."""
    return [np.asarray(v.value) for v in (*model.variables, *model.optimizer.variables)]


def restore(model: Any, state: Sequence[Any]) -> None:
    variables = (*model.variables, *model.optimizer.variables)
    for variable, value in zip(variables, state, strict=True):
        variable.assign(value)


def check_equal_histories(given: Any, wanted: Any) -> None:
    assert given.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_allclose(given[name], values, **CLOSE, err_msg=name)


def check_equal_state(model: Any, wanted: Any) -> None:
    for given, value in zip(all_state(model), all_state(wanted), strict=True):
        np.testing.assert_allclose(given, value, rtol=1e-4, atol=1e-5)
