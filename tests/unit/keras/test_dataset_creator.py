"""A function that makes datasets, in place of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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
