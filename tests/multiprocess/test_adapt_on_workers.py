"""Learning from data that several workers share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from replax.testing import run_processes

WORDS = np.array([f"w{i * i % 7}" for i in range(33)], object)
IDS = np.array([i * i % 5 for i in range(33)]) + 2**40
ROWS = np.random.default_rng(0).normal(3.0, 2.0, (33, 4))


def learned() -> dict[str, Any]:
    """What a worker knows in the end."""
    import replax
    from replax.data import Dataset
    from replax.keras import layers

    strategy = replax.distribute.MultiWorkerMirroredStrategy()

    def spread(data: Any) -> Any:
        batches = Dataset.from_tensor_slices(data).batch(8)
        return strategy.experimental_distribute_dataset(batches)

    def own(context: Any) -> Any:
        rows = Dataset.from_tensor_slices(WORDS).batch(8)
        return rows.shard(context.num_input_pipelines, context.input_pipeline_id)

    with strategy.scope():
        words, ids = layers.StringLookup(), layers.IntegerLookup()
        moments, ranges = layers.Normalization(), layers.Discretization(num_bins=3)
        others = layers.StringLookup()
    words.adapt(spread(WORDS))
    ids.adapt(spread(IDS))
    moments.adapt(spread((ROWS, ROWS[:, 0])))
    ranges.adapt(spread(ROWS[:, :1]))
    others.adapt(strategy.distribute_datasets_from_function(own))
    return {
        "words": words.get_vocabulary(),
        "others": others.get_vocabulary(),
        "ids": ids.get_vocabulary(),
        "mean": moments.mean,
        "variance": moments.variance,
        "boundaries": ranges.bin_boundaries,
    }


@pytest.mark.parametrize(("workers", "devices"), [(2, 1), (3, 2)])
def test_all_workers_learn_what_one_would(workers: int, devices: int) -> None:
    from replax.keras.layers import StringLookup

    first, *others = run_processes(workers, learned, devices=devices).values
    for other in others:
        for key, value in other.items():
            np.testing.assert_array_equal(value, first[key])
    alone = StringLookup()
    alone.adapt(WORDS)
    assert first["words"] == first["others"] == alone.get_vocabulary()
    assert first["ids"] == [-1, 2**40 + 4, 2**40 + 1, 2**40]
    np.testing.assert_allclose(first["mean"], ROWS.mean(axis=0))
    np.testing.assert_allclose(first["variance"], ROWS.var(axis=0))
    assert len(first["boundaries"]) == 2
