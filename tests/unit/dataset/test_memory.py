"""Memory that devices use as it is: what lies in it never changes."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from replax._src.dataset.memory import gathered, give_away, owned
from replax.data import Dataset
from replax.distribute import MirroredStrategy, OneDeviceStrategy, Strategy


def test_rows_are_gathered_into_aligned_memory() -> None:
    column = np.arange(60, dtype=np.float32).reshape(20, 3)
    for index in (np.array([3, 3, 19]), np.array([], np.int64)):
        rows = gathered(column, index)
        np.testing.assert_array_equal(rows, column[index])
        assert rows.ctypes.data % 64 == 0
    words = np.array([b"a", b"b"], object)
    assert gathered(words, np.array([1])).tolist() == [b"b"]


@pytest.mark.parametrize("wrong", [-1, 20])
def test_numbers_of_no_row_are_errors(wrong: int) -> None:
    with pytest.raises(IndexError, match="not all numbers of 20 rows"):
        gathered(np.arange(20), np.array([3, wrong]))


def test_only_what_nobody_else_has_is_not_copied() -> None:
    rows = gathered(np.arange(20), np.arange(6))
    view = rows.reshape(2, 3)[1:]
    assert owned(view) is view
    give_away(view[0])
    copy = owned(view)
    assert not np.shares_memory(copy, rows)
    assert owned(copy) is copy
    np.testing.assert_array_equal(copy, [[3, 4, 5]])


def strategies() -> list[Strategy]:
    return [OneDeviceStrategy("CPU:0"), MirroredStrategy(["CPU:0", "CPU:1"])]


def aligned(rows: int) -> np.ndarray:
    """Such memory as a user may have by chance."""
    memory = np.zeros(rows * 4 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + rows * 4].view(np.float32)


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("strategy", strategies(), ids=["one", "two"])
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


@pytest.mark.parametrize("strategy", strategies(), ids=["one", "two"])
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


@pytest.mark.parametrize("strategy", strategies(), ids=["one", "two"])
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
