"""Datasets whose functions are called in worker processes."""

from __future__ import annotations

import dataclasses
import json
import os
import traceback
from typing import Any

import numpy as np
import pytest

import naive
import replax
from replax.data import Dataset, Options


def in_processes(dataset: Dataset, count: int) -> Dataset:
    options = Options()
    options.worker_processes = count
    return dataset.with_options(options)


def hard(x: Any) -> Any:
    if x == 13:
        msg = "thirteen"
        raise KeyError(msg)
    return x * 2


def numbers(size: int) -> Dataset:
    return Dataset.range(size).map(lambda x: {"x": x, "square": x * x})


@pytest.mark.parametrize(("size", "count"), [(0, 2), (1, 2), (7, 1), (131, 3)])
def test_all_elements_come_in_order_the_last_ones_too(size: int, count: int) -> None:
    dataset = in_processes(numbers(size), count)
    for _ in range(2):
        assert naive.all_same(list(dataset), list(numbers(size)))
    assert naive.all_same(list(dataset.batch(4)), list(numbers(size).batch(4)))


def test_the_function_is_called_elsewhere() -> None:
    dataset = Dataset.range(20).map(lambda _: os.getpid())
    assert {int(x) for x in dataset} == {os.getpid()}
    elsewhere = {int(x) for x in in_processes(dataset, 2)}
    assert os.getpid() not in elsewhere
    assert 1 <= len(elsewhere) <= 2


def test_several_functions_and_keys_of_random_numbers() -> None:
    def noisy(x: Any, key: Any) -> Any:
        return x + np.random.default_rng(key).normal()

    def build() -> Dataset:
        return Dataset.range(9).random_map(noisy, seed=3).map(lambda x: x + 1)

    assert naive.all_same(list(in_processes(build(), 2)), list(build()))


def test_an_object_that_cannot_be_hashed_may_be_called() -> None:
    @dataclasses.dataclass
    class Plus:
        what: int

        def __call__(self, x: Any) -> Any:
            return x + self.what

    dataset = Dataset.range(3).map(Plus(2)).map(Plus(10))
    assert [int(x) for x in in_processes(dataset, 1)] == [12, 13, 14]


def test_an_error_says_which_element_and_where() -> None:
    dataset = in_processes(Dataset.range(20).map(hard), 2)
    given: list[int] = []
    with pytest.raises(KeyError, match="thirteen") as caught:
        given.extend(int(x) for x in dataset)
    assert given == [2 * i for i in range(13)]
    told = "".join(traceback.format_exception(caught.value))
    assert "(raised by the function of map, for element 13)" in told
    assert "test_processes.py" in told
    assert "raise KeyError(msg)" in told


def test_elements_behind_an_error_are_not_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    dataset = in_processes(Dataset.range(20).map(hard).ignore_errors().batch(7), 2)
    wanted = [2 * i for i in range(20) if i != 13]
    assert [x for batch in dataset for x in batch.tolist()] == wanted
    assert "ignore_errors left out 1 element; the last error was KeyError" in (
        caplog.text
    )


def test_positions_hold_for_any_number_of_processes() -> None:
    def build() -> Dataset:
        return Dataset.range(40).shuffle(40, seed=1).map(hard_but_fine).batch(3)

    iterator = iter(in_processes(build(), 2))
    begun = [next(iterator) for _ in range(5)]
    state = json.loads(json.dumps(iterator.get_state()))
    rest = list(iterator)
    assert sorted(np.concatenate(begun + rest)) == [2 * i for i in range(40)]
    other = iter(in_processes(build(), 1))
    other.set_state(state)
    assert naive.all_same(list(other), rest)


def hard_but_fine(x: Any) -> Any:
    return x * 2


def test_positions_with_and_without_processes_are_not_mixed() -> None:
    def build() -> Dataset:
        return Dataset.range(9).map(hard_but_fine)

    state = iter(build()).get_state()
    with pytest.raises(
        replax.errors.InvalidArgumentError,
        match=r"another dataset than .*worker_processes=2.*without them if there were",
    ):
        iter(in_processes(build(), 2)).set_state(state)
