"""What was given to replicas never changes, whoever writes to what it came from."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from replax.data import Dataset
from replax.distribute import MirroredStrategy, OneDeviceStrategy, Strategy


@pytest.fixture(params=[1, 2])
def strategy(request: Any) -> Strategy:
    if request.param == 1:
        return OneDeviceStrategy("CPU:0")
    return MirroredStrategy(["CPU:0", "CPU:1"])


def aligned(rows: int) -> np.ndarray:
    """Such memory as a user may have by chance."""
    memory = np.zeros(rows * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + rows * 4].view(np.float32)


@pytest.mark.parametrize("offset", [0, 4])
def test_arrays_of_users_may_change_afterwards(strategy: Strategy, offset: int) -> None:
    rows = aligned(2**16 + 16)[offset:][: 2**16]
    source = Dataset.from_tensor_slices(rows)
    for dataset in (
        Dataset.from_tensors(rows),
        source.batch(2**16),
        Dataset.from_generator(lambda: iter([rows])),
    ):
        rows[:] = 1
        (value,) = strategy.experimental_distribute_dataset(dataset)
        rows[:] = 2
        for part in strategy.experimental_local_results(value):
            assert np.unique(np.asarray(part)).tolist() == [1]


def test_functions_may_keep_what_they_get_and_write_to_it(strategy: Strategy) -> None:
    kept: list[np.ndarray] = []

    def keep(x: Any) -> Any:
        for old in kept:
            old[:] = -1
        kept[:] = [x]
        return x

    dataset = Dataset.from_tensor_slices(np.arange(256)).shuffle(256).batch(64)
    distributed = strategy.experimental_distribute_dataset(dataset.map(keep))
    values = list(distributed)
    kept[0][:] = -1
    found: list[int] = []
    for value in values:
        for part in strategy.experimental_local_results(value):
            found += np.asarray(part).tolist()
    assert sorted(found) == list(range(256))


def test_what_is_cached_outlives_donation(strategy: Strategy) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(256)).shuffle(256, seed=1).batch(64)
    double = jax.jit(lambda x: x * 2, donate_argnums=0)
    for batches in (dataset.cache(), dataset.cache().map(lambda x: x)):
        distributed = strategy.experimental_distribute_dataset(batches)
        epochs = []
        for _ in range(3):
            found: list[int] = []
            for value in distributed:
                for part in strategy.experimental_local_results(value):
                    found += np.asarray(part).tolist()
                    jax.block_until_ready(double(part))
            epochs.append(found)
        assert sorted(epochs[0]) == list(range(256))
        assert epochs[0] == epochs[1] == epochs[2]
