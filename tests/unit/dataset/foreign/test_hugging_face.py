from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import datasets
import numpy as np
import pytest
from PIL import Image

import replax
from positions import check_positions, nest_equal
from replax.data import Dataset, as_dataset


def _table() -> Any:
    features = datasets.Features(
        {
            "x": datasets.List(datasets.Value("float32"), length=2),
            "tokens": datasets.List(datasets.Value("int32")),
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["a", "b"]),
            "meta": {"n": datasets.Value("int8")},
        }
    )
    columns = {
        "x": [[i, i + 0.5] for i in range(7)],
        "tokens": [list(range(i % 3)) for i in range(7)],
        "text": [f"t{i}" for i in range(7)],
        "label": [i % 2 for i in range(7)],
        "meta": [{"n": i} for i in range(7)],
    }
    return datasets.Dataset.from_dict(columns, features=features)


def _spec() -> Any:
    return {
        "x": replax.TensorSpec((2,), "float32"),
        "tokens": replax.TensorSpec((None,), "int32"),
        "text": replax.TensorSpec((), object),
        "label": replax.TensorSpec((), "int64"),
        "meta": {"n": replax.TensorSpec((), "int8")},
    }


def test_a_dataset_is_read_by_number() -> None:
    dataset = as_dataset(_table())
    assert len(dataset) == 7
    assert dataset.element_spec == _spec()
    elements = check_positions(lambda: as_dataset(_table()))
    fifth = elements[5]
    assert nest_equal(
        fifth,
        {
            "x": np.array([5, 5.5], np.float32),
            "tokens": np.array([0, 1], np.int32),
            "text": "t5",
            "label": np.int64(1),
            "meta": {"n": np.int8(5)},
        },
    )


def test_many_rows_are_one_call() -> None:
    dataset = as_dataset(_table()).shuffle(7, seed=3).map(lambda e: e["x"]).batch(4)
    batches = check_positions(
        lambda: as_dataset(_table()).shuffle(7, seed=3).map(lambda e: e["x"]).batch(4)
    )
    assert [b.shape for b in batches] == [(4, 2), (3, 2)]
    assert sorted(np.concatenate(list(dataset))[:, 0]) == list(range(7))


def test_selected_rows_and_columns() -> None:
    table = _table().select([4, 1, 6]).select_columns(["label", "text"])
    elements = list(as_dataset(table))
    assert [e["text"] for e in elements] == ["t4", "t1", "t6"]
    assert elements[0].keys() == {"label", "text"}


def test_formats_are_kept() -> None:
    table = _table().remove_columns(["tokens", "meta"]).with_format("numpy")
    elements = list(as_dataset(table))
    assert elements[3]["x"].tolist() == [3, 3.5]
    assert elements[3]["text"] == "t3"
    changed = _table().with_transform(
        lambda rows: {"n": [len(t) for t in rows["text"]]}
    )
    assert [int(e["n"]) for e in as_dataset(changed)] == [2] * 7


def test_images_are_decoded() -> None:
    images = [Image.new("RGB", (3, 2), (i, 0, 0)) for i in range(3)]
    features = datasets.Features({"image": datasets.Image()})
    table = datasets.Dataset.from_dict({"image": images}, features=features)
    dataset = as_dataset(table)
    assert dataset.element_spec == {"image": replax.TensorSpec((2, 3, 3), "uint8")}
    (batch,) = dataset.batch(3)
    assert batch["image"][:, 0, 0, 0].tolist() == [0, 1, 2]


def test_a_missing_value_is_an_error() -> None:
    table = datasets.Dataset.from_dict({"n": [1, 2, None, 4]})
    with pytest.raises(ValueError, match="element 2 has no value in column 'n'"):
        list(as_dataset(table))
    with pytest.raises(ValueError, match="element 2 has no value"):
        list(as_dataset(table).shuffle(4, seed=1))
    floats = datasets.Dataset.from_dict({"n": [1.5, None]})
    assert np.isnan(list(as_dataset(floats))[1]["n"])


def test_a_dict_of_splits_is_refused() -> None:
    splits = datasets.DatasetDict({"train": _table(), "test": _table()})
    with pytest.raises(TypeError, match=r"'train', 'test'.*choose one"):
        as_dataset(splits)


def _numbers(shards: list[int]) -> Iterator[dict[str, Any]]:
    for shard in shards:
        for i in range(4):
            yield {"n": shard * 10 + i, "s": f"s{i}"}


def _streamed() -> Any:
    return datasets.IterableDataset.from_generator(
        _numbers, gen_kwargs={"shards": [1, 2]}
    )


@pytest.mark.parametrize(
    "make",
    [
        _streamed,
        lambda: _streamed().map(lambda e: {"m": e["n"] * 2}),
        lambda: _streamed().map(
            lambda rows: {"m": [n * 2 for n in rows["n"]]}, batched=True, batch_size=3
        ),
        lambda: _streamed().filter(lambda e: e["n"] % 2 == 0),
        lambda: _streamed().skip(2).take(4),
        lambda: _streamed().shuffle(seed=1, buffer_size=3),
        lambda: _table().to_iterable_dataset(num_shards=2),
        lambda: datasets.interleave_datasets([_streamed(), _streamed()]),
        lambda: _streamed().with_format("numpy"),
    ],
    ids=[
        "plain",
        "map",
        "batched",
        "filter",
        "take",
        "shuffle",
        "table",
        "interleave",
        "numpy",
    ],
)
def test_positions_in_an_iterable_dataset(make: Any) -> None:
    wanted = list(make())
    elements = check_positions(lambda: as_dataset(make()))
    assert len(elements) == len(wanted)
    for element, row in zip(elements, wanted, strict=True):
        key = "n" if "n" in row else "label"
        assert element[key] == row[key]


def test_passes_of_one_iterable_dataset_do_not_disturb_each_other() -> None:
    dataset = as_dataset(_streamed())
    first, second = iter(dataset), iter(dataset)
    pairs = [(next(first)["n"], next(second)["n"]) for _ in range(3)]
    assert pairs == [(10, 10), (11, 11), (12, 12)]
    state = first.get_state()
    list(second)
    assert first.get_state() == state
    other = iter(as_dataset(_streamed()))
    other.set_state(state)
    assert [e["n"] for e in other] == [13, 20, 21, 22, 23]


def test_the_spec_of_an_iterable_dataset_is_that_of_its_features() -> None:
    streamed = _table().to_iterable_dataset()
    dataset: Dataset = as_dataset(streamed)
    assert dataset.element_spec == _spec()
    assert next(iter(dataset))["meta"]["n"].dtype == np.int8


def test_errors_say_which_element() -> None:
    def fail(row: Any) -> Any:
        if row["n"] == 12:
            msg = "bad row"
            raise LookupError(msg)
        return row

    with pytest.raises(LookupError, match="bad row") as caught:
        list(as_dataset(_streamed().map(fail)))
    assert "datasets.IterableDataset), for element 2" in caught.value.__notes__[-1]
