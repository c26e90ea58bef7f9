"""A function that makes datasets, in place of a dataset."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from fresh_process import run_python
from keras_training import check_equal_histories, classifier, in_scope, rows
from replax.data import Dataset
from replax.distribute import InputContext, InputOptions, MirroredStrategy
from replax.keras import DatasetCreator


def dataset_fn(context: InputContext) -> Dataset:
    data = Dataset.range(8).batch(context.get_per_replica_batch_size(4))
    return data.shard(context.num_input_pipelines, context.input_pipeline_id)


def test_a_strategy_calls_it_as_it_would_call_the_function() -> None:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    options = InputOptions(experimental_fetch_to_device=False)
    creator = DatasetCreator(dataset_fn, input_options=options)
    data = strategy.distribute_datasets_from_function(creator, creator.input_options)
    found = [[part.tolist() for part in x.values] for x in data]
    assert found == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert creator.dataset_fn is dataset_fn
    assert repr(creator) == "DatasetCreator(dataset_fn)"


def test_it_makes_a_dataset_of_what_the_function_returns() -> None:
    def rows() -> Any:
        yield np.array([1, 2])
        yield np.array([3])

    creator = DatasetCreator(lambda context: rows)
    assert [x.tolist() for x in creator(InputContext())] == [[1, 2], [3]]


def test_what_makes_no_datasets_is_refused() -> None:
    wrong: Any = Dataset.range(3)
    with pytest.raises(TypeError, match=r"got <Dataset .*; give a function that takes"):
        DatasetCreator(wrong)
    options: Any = {"fetch": True}
    with pytest.raises(TypeError, match=r"is {'fetch': True}; give a .*InputOptions"):
        DatasetCreator(dataset_fn, options)
    with pytest.raises(TypeError, match="5"):
        DatasetCreator(lambda context: 5)(InputContext())


COUNT, BATCH = 24, 6
X, Y = rows(COUNT)


def creator_of(*arrays: Any, seen: list[InputContext] | None = None) -> DatasetCreator:
    def make(context: InputContext) -> Dataset:
        if seen is not None:
            seen.append(context)
        parts: Any = arrays
        whole = Dataset.from_tensor_slices(parts if len(parts) > 1 else parts[0])
        return whole.batch(context.get_per_replica_batch_size(BATCH))

    return DatasetCreator(make)


@functools.cache
def of_arrays() -> Any:
    """What fit, evaluate and predict give for arrays, without any strategy."""
    model = classifier()
    fitted = model.fit(
        X,
        Y,
        batch_size=BATCH,
        shuffle=False,
        class_weight={0: 1.0, 1: 2.0, 2: 0.5},
        epochs=2,
        validation_data=(X, Y),
        verbose=0,
    )
    scores = model.evaluate(X, Y, batch_size=BATCH, verbose=0, return_dict=True)
    return fitted.history, scores, model.predict(X, batch_size=BATCH, verbose=0)


@pytest.mark.parametrize("replicas", [0, 1, 2, 3])
def test_models_train_on_what_the_function_makes_for_their_strategy(
    replicas: int,
) -> None:
    seen: list[InputContext] = []
    model = in_scope(replicas, classifier)
    data = creator_of(X, Y, seen=seen)
    fitted = model.fit(
        data,
        epochs=2,
        class_weight={0: 1.0, 1: 2.0, 2: 0.5},
        validation_data=creator_of(X, Y),
        verbose=0,
    )
    scores = model.evaluate(data, verbose=0, return_dict=True)
    predictions = model.predict(creator_of(X), verbose=0)
    history, wanted_scores, wanted = of_arrays()
    check_equal_histories(fitted.history, history)
    check_equal_histories(scores, wanted_scores)
    np.testing.assert_allclose(predictions, wanted, rtol=1e-4, atol=1e-5)
    assert [c.num_replicas_in_sync for c in seen] == [max(replicas, 1)] * 2
    assert [c.num_input_pipelines for c in seen] == [1, 1]


def test_steps_say_where_epochs_of_an_endless_dataset_end() -> None:
    def endless(context: InputContext) -> Dataset:
        return creator_of(X, Y)(context).repeat()

    model, data = in_scope(2, classifier), DatasetCreator(endless)
    model.fit(
        data,
        epochs=3,
        steps_per_epoch=3,
        validation_data=data,
        validation_steps=2,
        verbose=0,
    )
    assert int(model.optimizer.iterations.value) == 9
    reason = r"<DistributedDataset .*endless, .*steps_per_epoch.* or steps "
    for call in (
        lambda: model.fit(data),
        lambda: model.fit(X, Y, validation_data=data),
        lambda: model.evaluate(data),
        lambda: model.predict(data),
    ):
        with pytest.raises(ValueError, match=reason):
            call()


def test_a_function_alone_is_no_data() -> None:
    model = in_scope(2, classifier)
    reason = r"function <function dataset_fn .*InputContext.*DatasetCreator\(function\)"
    with pytest.raises(TypeError, match=reason):
        model.fit(dataset_fn)
    with pytest.raises(TypeError, match=r"functools\.partial.*DatasetCreator"):
        model.predict(functools.partial(dataset_fn))


def test_rows_are_not_weighted_twice() -> None:
    model = in_scope(2, classifier)
    both = creator_of(X, Y, np.ones(COUNT, np.float32))
    with pytest.raises(ValueError, match=r"\(x, y, sample_weight\); multiply"):
        model.fit(both, class_weight={0: 1.0, 1: 1.0, 2: 1.0})


def test_models_take_datasets_whichever_is_imported_first() -> None:
    program = """
import {first}
import {second}
import numpy as np
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
data = replax.data.Dataset.from_tensors((np.ones((4, 2)), np.ones((4, 1))))
model.fit(replax.keras.DatasetCreator(lambda context: data), verbose=0)
print(int(model.optimizer.iterations.value))
"""
    for first, second in (("keras", "replax"), ("replax.data", "keras")):
        assert run_python("-c", program.format(first=first, second=second)) == "1\n"
