from __future__ import annotations

import json
from typing import Any

import grain
import numpy as np
import pytest

import replax
from positions import check_positions, nest_equal
from replax.data import Dataset, as_dataset


def _map_dataset() -> Any:
    source = [{"x": np.full(2, i, np.float32), "s": f"t{i}"} for i in range(7)]
    return grain.MapDataset.source(source)


def _double(element: Any) -> Any:
    return element * 2


def _is_odd(element: Any) -> bool:
    return element % 2 == 1


class _Plus(grain.transforms.Map):
    def map(self, element: Any) -> Any:
        return {"x": element + 1}


def _loader(**options: Any) -> Any:
    source: Any = grain.sources.RangeDataSource(0, 9, 1)
    return grain.DataLoader(
        data_source=source,
        sampler=grain.samplers.IndexSampler(9, shuffle=True, seed=3, num_epochs=1),
        operations=[_Plus(), grain.transforms.Batch(2)],
        **options,
    )


def test_a_map_dataset_is_read_by_number() -> None:
    dataset = as_dataset(_map_dataset())
    assert len(dataset) == 7
    assert "by number" in dataset.explain()
    assert dataset.element_spec == {
        "x": replax.TensorSpec((2,), "float32"),
        "s": replax.TensorSpec((), object),
    }
    elements = check_positions(lambda: as_dataset(_map_dataset()))
    assert [e["s"] for e in elements] == [f"t{i}" for i in range(7)]
    check_positions(lambda: as_dataset(_map_dataset()).shuffle(7, seed=2).batch(3))


def test_rounds_of_a_repeat_are_epochs_of_grain() -> None:
    shuffled = grain.MapDataset.range(6).seed(4).shuffle()
    wanted = list(shuffled.repeat(3))
    assert wanted[:6] != wanted[6:12]
    assert check_positions(lambda: as_dataset(shuffled).repeat(3)) == wanted
    by_number = as_dataset(shuffled).repeat(3).shuffle(18, seed=1)
    assert sorted(int(x) for x in by_number) == sorted(map(int, wanted))


def test_an_endless_map_dataset_is_endless() -> None:
    dataset = as_dataset(grain.MapDataset.range(3).repeat())
    assert dataset.cardinality() == replax.data.INFINITE_CARDINALITY
    assert [int(x) for x in dataset.take(5)] == [0, 1, 2, 0, 1]


def test_a_map_dataset_that_filters_is_read_in_order() -> None:
    def make() -> Dataset:
        return as_dataset(grain.MapDataset.range(10).filter(_is_odd).map(_double))

    assert "in order" in make().explain()
    assert check_positions(make) == [2, 6, 10, 14, 18]


def test_a_missing_element_is_an_error() -> None:
    dataset = as_dataset(grain.MapDataset.source([1, None, 3]))
    with pytest.raises(ValueError, match=r"element 1 .*to_iter_dataset"):
        list(dataset)


@pytest.mark.parametrize(
    "make",
    [
        lambda: grain.MapDataset.range(7).to_iter_dataset(),
        lambda: grain.MapDataset.range(9).to_iter_dataset().filter(_is_odd),
        lambda: grain.MapDataset.range(9).map(_double).to_iter_dataset().batch(2),
        lambda: grain.experimental.WindowShuffleIterDataset(
            grain.MapDataset.range(8).to_iter_dataset(), window_size=3, seed=1
        ),
        _loader,
    ],
    ids=["plain", "filter", "batch", "shuffle", "loader"],
)
def test_positions_of_grain_are_used(make: Any) -> None:
    wanted = list(make())
    elements = check_positions(lambda: as_dataset(make()))
    assert len(elements) == len(wanted)
    assert all(map(nest_equal, elements, wanted))
    state = iter(as_dataset(make()).prefetch(1)).get_state()
    json.dumps(state)


def test_lists_are_nests_in_grain() -> None:
    source = grain.MapDataset.source([[np.zeros(2), np.ones(3)]] * 2)
    (batch,) = as_dataset(source.batch(2).to_iter_dataset())
    assert [part.shape for part in batch] == [(2, 2), (2, 3)]
    assert isinstance(batch, tuple)


def test_errors_of_a_map_dataset_say_which_element() -> None:
    def fail(element: Any) -> Any:
        if element == 2:
            msg = "bad record"
            raise KeyError(msg)
        return element

    dataset = as_dataset(grain.MapDataset.range(4).map(fail))
    with pytest.raises(KeyError, match="bad record") as caught:
        list(dataset)
    assert "for element 2" in caught.value.__notes__[-1]
    assert [int(x) for x in dataset.ignore_errors()] == [0, 1, 3]
    ordered = iter(as_dataset(grain.MapDataset.range(4).map(fail).to_iter_dataset()))
    assert [next(ordered), next(ordered)] == [0, 1]
    before = ordered.get_state()
    for _ in range(2):
        with pytest.raises(KeyError, match="bad record"):
            next(ordered)
    assert ordered.get_state() == before


def test_a_data_source_is_read_by_number() -> None:
    dataset = as_dataset(grain.sources.RangeDataSource(2, 8, 2))
    assert [int(x) for x in dataset] == [2, 4, 6]


def test_an_indexed_plan_becomes_a_map_dataset() -> None:
    dataset = Dataset.range(10).shuffle(10, seed=5).map(lambda x: x * 2).batch(3)
    grains = dataset.to_grain()
    assert isinstance(grains, grain.MapDataset)
    assert len(grains) == 4
    elements: list[Any] = list(grains)
    assert all(map(nest_equal, elements, dataset))
    # Behind its end there are other passes, shuffled anew.
    later: list[Any] = [grains[4 + i] for i in range(4)]
    assert sorted(np.concatenate(later)) == sorted(np.concatenate(elements))
    assert not all(map(nest_equal, elements, later))
    assert [b.tolist() for b in grains[1:3]] == [b.tolist() for b in elements[1:3]]
    grain.experimental.assert_equal_output_after_checkpoint(grains.to_iter_dataset())


def test_an_endless_plan_becomes_an_endless_map_dataset() -> None:
    grains = Dataset.range(3).repeat().to_grain()
    assert [int(grains[i]) for i in (0, 4, 1001)] == [0, 1, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dataset.range(9).filter(lambda x: x % 2 == 0).batch(2),
        lambda: Dataset.range(9).filter(lambda x: x > 2).shuffle(4, seed=1).repeat(2),
        lambda: Dataset.range(9).prefetch(3),
        lambda: Dataset.range(6).map(lambda x: x, num_parallel_calls=2),
    ],
    ids=["filter", "shuffle", "prefetch", "threads"],
)
def test_another_plan_becomes_an_iter_dataset(make: Any) -> None:
    grains = make().to_grain()
    assert isinstance(grains, grain.IterDataset)
    assert all(map(nest_equal, list(grains), list(make())))
    grain.experimental.assert_equal_output_after_checkpoint(make().to_grain())


def test_steps_of_grain_follow() -> None:
    grains = Dataset.range(8).filter(lambda x: x > 1).to_grain()
    assert [b.tolist() for b in grains.map(_double).batch(3)] == [
        [4, 6, 8],
        [10, 12, 14],
    ]
    there_and_back = as_dataset(grains.map(_double))
    assert [int(x) for x in there_and_back] == [4, 6, 8, 10, 12, 14]
    check_positions(lambda: as_dataset(Dataset.range(5).to_grain().map(_double)))
