"""Every kind of data x fit, evaluate and predict x numbers of replicas."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import replax
from keras_training import (
    all_state,
    check_equal_histories,
    classifier,
    in_scope,
    mirrored,
    restore,
    rows,
)

COUNT, BATCH = 21, 8
X, Y = rows(COUNT)
STARTS = range(0, COUNT, BATCH)


def batches() -> Any:
    return ((X[i : i + BATCH], Y[i : i + BATCH]) for i in STARTS)


class Sequence(keras.utils.PyDataset):
    def __len__(self) -> int:
        return len(STARTS)

    def __getitem__(self, index: int) -> Any:
        part = slice(STARTS[index], STARTS[index] + BATCH)
        return X[part], Y[part]


def a_dataset() -> Any:
    return replax.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)


def of_grain() -> Any:
    grain = pytest.importorskip("grain")

    class Both:
        def __len__(self) -> int:
            return COUNT

        def __getitem__(self, index: int) -> Any:
            return X[index], Y[index]

    return grain.MapDataset.source(Both()).batch(BATCH)


def of_tensorflow() -> Any:
    tf = pytest.importorskip("tensorflow")
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH)


def of_torch() -> Any:
    torch = pytest.importorskip("torch")
    pairs = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))
    return torch.utils.data.DataLoader(pairs, batch_size=BATCH)


def from_function() -> Any:
    """Each replica gets whole batches of its own size, in their order."""
    strategy = replax.distribute.get_strategy()
    replicas = strategy.num_replicas_in_sync

    def parts(context: Any) -> Any:
        del context
        step = BATCH // replicas or 1
        return replax.data.Dataset.from_tensor_slices((X, Y)).batch(step)

    return strategy.distribute_datasets_from_function(parts)


SOURCES: dict[str, Callable[[], Any]] = {
    "numpy": lambda: (X, Y),
    "jax": lambda: (jnp.asarray(X), jnp.asarray(Y)),
    "replax": a_dataset,
    "distributed": lambda: (
        replax.distribute.get_strategy().experimental_distribute_dataset(a_dataset())
    ),
    "generator": batches,
    "PyDataset": Sequence,
    "grain": of_grain,
    "tf.data": of_tensorflow,
    "torch": of_torch,
}


@functools.cache
def model_and_state(replicas: int) -> tuple[Any, list[Any]]:
    model = in_scope(replicas, classifier)
    model.optimizer.build(model.trainable_variables)
    return model, all_state(model)


def ready(replicas: int) -> Any:
    """The model with its first values."""
    model, state = model_and_state(replicas)
    restore(model, state)
    return model


def seen_with(replicas: int, source: Callable[[], Any]) -> Any:
    model, state = model_and_state(replicas)
    restore(model, state)

    def given() -> dict[str, Any]:
        data = in_scope(replicas, source)
        if isinstance(data, tuple):
            return {"x": data[0], "y": data[1], "batch_size": BATCH}
        return {"x": data}

    options: Any = {"verbose": 0}
    histories: dict[str, list[float]] = {}
    for _ in range(2):  # a generator is good for one epoch
        data = given()
        epoch = model.fit(**data, shuffle=False, **options, **_steps(data)).history
        for name, values in epoch.items():
            histories.setdefault(name, []).extend(values)
    data = given()
    scores = model.evaluate(
        **data, return_dict=True, **options, **_steps(data, "steps")
    )
    data = given()
    data.pop("y", None)
    return histories, scores, model.predict(**data, **options, **_steps(data, "steps"))


def _steps(data: dict[str, Any], name: str = "steps_per_epoch") -> dict[str, int]:
    """Keras warns of data that end unless it knows how many batches there are."""
    knows = isinstance(data["x"], (np.ndarray, jnp.ndarray, keras.utils.PyDataset))
    is_ours = hasattr(data["x"], "element_spec") and hasattr(data["x"], "cardinality")
    return {} if knows or is_ours else {name: len(STARTS)}


@functools.cache
def wanted() -> Any:
    return seen_with(0, SOURCES["numpy"])


@pytest.mark.parametrize("replicas", [1, 2, 3])
@pytest.mark.parametrize("source", SOURCES)
def test_histories_are_equal(source: str, replicas: int) -> None:
    histories, scores, predictions = seen_with(replicas, SOURCES[source])
    check_equal_histories(histories, wanted()[0])
    check_equal_histories(scores, wanted()[1])
    np.testing.assert_allclose(predictions, wanted()[2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_replicas_may_bring_batches_of_their_own(replicas: int) -> None:
    model, state = model_and_state(replicas)
    restore(model, state)
    data = in_scope(replicas, from_function)
    scores = model.evaluate(data, return_dict=True, verbose=0)
    restore(model, state)
    alone = model.evaluate(X, Y, return_dict=True, verbose=0)
    check_equal_histories(scores, alone)
    assert model.predict(data, verbose=0).shape == (COUNT, 3)


def test_a_dataset_that_was_distributed_by_another_strategy_is_refused() -> None:
    model = ready(2)
    data = mirrored(3).experimental_distribute_dataset(a_dataset())
    with pytest.raises(RuntimeError, match="distribute the dataset with the strategy"):
        model.fit(data, verbose=0)


def test_labels_beside_a_dataset_are_refused() -> None:
    model = ready(2)
    with pytest.raises(ValueError, match=r"y is given beside a dataset.*tuples"):
        model.fit(a_dataset(), Y, verbose=0)


def test_strings_are_refused() -> None:
    model = ready(2)
    pair = (np.array(["a", "b"]), Y[:2])
    with pytest.raises(TypeError, match=r"holds <U1.*arrays of numbers.*dataset.map"):
        model.evaluate((p for p in [pair]), steps=1, verbose=0)


def test_single_values_are_refused() -> None:
    model = ready(2)
    pair = (X[:2], np.float32(1))
    with pytest.raises(ValueError, match=r"cannot be split over replicas.*batch"):
        model.evaluate((p for p in [pair]), steps=1, verbose=0)


def test_a_model_without_a_strategy_takes_datasets_too() -> None:
    model, state = model_and_state(0)
    restore(model, state)
    scores = model.evaluate(a_dataset(), return_dict=True, verbose=0)
    check_equal_histories(scores, model.evaluate(X, Y, return_dict=True, verbose=0))
