from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from positions import check_positions, nest_equal
from replax.data import as_dataset

torch: Any = pytest.importorskip("torch")
data: Any = pytest.importorskip("torch.utils.data")

# Python 3.12 and newer warn of any fork of a process with threads, and JAX of one where
# another test has computed with it.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]

Pair = collections.namedtuple("Pair", ["x", "y"])  # noqa: PYI024


class Rows(data.Dataset):
    def __init__(self, count: int, length: int | None = None) -> None:
        self.count = count
        self.length = count if length is None else length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        if index >= self.count:
            raise IndexError(index)
        return torch.full((2,), float(index)), index, f"t{index}"


class Together(Rows):
    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.calls: list[list[int]] = []

    def __getitems__(self, indices: list[int]) -> list[Any]:
        self.calls.append(indices)
        return [self[i] for i in indices]


class Stream(data.IterableDataset):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[Any]:
        for i in range(self.count):
            yield {"x": torch.tensor([i, i]), "y": Pair(i, float(i))}


class NoLength(data.Dataset):
    def __getitem__(self, index: int) -> int:
        return index


def test_a_map_style_dataset_is_read_by_number() -> None:
    dataset = as_dataset(Rows(6))
    assert len(dataset) == 6
    assert dataset.element_spec == (
        replax.TensorSpec((2,), "float32"),
        replax.TensorSpec((), "int64"),
        replax.TensorSpec((), object),
    )
    elements = check_positions(lambda: as_dataset(Rows(6)))
    assert nest_equal(elements[4], (np.full(2, 4, np.float32), np.int64(4), "t4"))
    check_positions(lambda: as_dataset(Rows(6)).shuffle(6, seed=3).batch(4).repeat(2))


def test_many_elements_are_one_call_where_torch_has_that() -> None:
    rows = Together(6)
    (batch,) = as_dataset(rows).batch(6)
    assert batch[1].tolist() == list(range(6))
    assert rows.calls == [list(range(6))]


def test_datasets_of_torch_itself() -> None:
    tensors = data.TensorDataset(torch.arange(6.0).reshape(3, 2), torch.arange(3))
    both = data.ConcatDataset([tensors, data.Subset(tensors, [2, 0])])
    assert [int(y) for _, y in as_dataset(both)] == [0, 1, 2, 2, 0]


def test_a_dataset_without_a_length_is_refused() -> None:
    with pytest.raises(TypeError, match=r"NoLength is a .* give it __len__"):
        as_dataset(NoLength())


def test_a_length_that_lies_is_an_error() -> None:
    with pytest.raises(ValueError, match="says that it has 5 elements, and element 3"):
        list(as_dataset(Rows(3, length=5)))


def test_an_iterable_dataset_is_read_in_order() -> None:
    elements = check_positions(lambda: as_dataset(Stream(4)))
    assert isinstance(elements[2]["y"], Pair)
    assert nest_equal(elements[2], {"x": np.array([2, 2]), "y": Pair(2, 2.0)})
    assert as_dataset(Stream(4)).cardinality() == replax.data.UNKNOWN_CARDINALITY


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_is_read_in_order(workers: int) -> None:
    def make() -> Any:
        return as_dataset(data.DataLoader(Rows(7), batch_size=3, num_workers=workers))

    assert len(make()) == 3
    batches = list(make()) if workers else check_positions(make)
    assert [type(b) for b in batches] == [tuple] * 3
    assert batches[1][0].tolist() == [[3, 3], [4, 4], [5, 5]]
    assert batches[1][1].tolist() == [3, 4, 5]
    assert batches[1][2].tolist() == ["t3", "t4", "t5"]


def test_a_position_in_a_loader_with_workers() -> None:
    def make() -> Any:
        return as_dataset(data.DataLoader(Rows(7), batch_size=3, num_workers=1))

    iterator = iter(make())
    next(iterator)
    state = iterator.get_state()
    other = iter(make())
    other.set_state(state)
    assert [b[1].tolist() for b in other] == [[3, 4, 5], [6]]


def test_a_loader_over_a_stream_has_no_known_length() -> None:
    loader = data.DataLoader(Stream(5), batch_size=2)
    dataset = as_dataset(loader)
    assert dataset.cardinality() == replax.data.UNKNOWN_CARDINALITY
    batches = list(dataset)
    assert isinstance(batches[0]["y"], Pair)
    assert batches[2]["x"].tolist() == [[4, 4]]


def test_a_loader_without_collating() -> None:
    loader = data.DataLoader(Rows(2), batch_size=None)
    assert nest_equal(
        list(as_dataset(loader))[1], (np.ones(2, np.float32), np.int64(1), "t1")
    )


def test_batches_are_not_copied() -> None:
    batch = torch.arange(4.0)
    (given,) = as_dataset(lambda: [batch])
    assert np.shares_memory(given, batch.numpy())
    loader = data.DataLoader([0], collate_fn=lambda _: [batch, batch])
    (given,) = as_dataset(loader)
    assert isinstance(given, tuple)
    assert np.shares_memory(given[1], batch.numpy())


def test_persistent_workers_serve_the_latest_pass() -> None:
    loader = data.DataLoader(
        Rows(6), batch_size=2, num_workers=1, persistent_workers=True
    )
    dataset = as_dataset(loader)
    first = iter(dataset)
    next(first)
    second = iter(dataset)
    assert next(second)[1].tolist() == [0, 1]
    with pytest.raises(RuntimeError, match="persistent_workers serve one pass only"):
        next(first)


def test_all_kinds_of_tensors() -> None:
    tensors = {
        "bf": torch.tensor([1.5], dtype=torch.bfloat16),
        "grad": torch.ones(2, requires_grad=True),
        "conj": torch.tensor([1 + 2j]).conj(),
        "scalar": torch.tensor(3, dtype=torch.int8),
        "turned": torch.arange(6).reshape(2, 3).T,
        "list": [1, 2, 3],
        "nest": [torch.ones(1), torch.ones(2)],
    }
    (element,) = as_dataset(data.DataLoader([tensors], batch_size=None))
    assert element["bf"].dtype == jnp.bfloat16
    assert float(element["bf"][0]) == 1.5
    assert element["grad"].tolist() == [1, 1]
    assert element["conj"].tolist() == [1 - 2j]
    assert element["scalar"].dtype == np.int8
    assert element["turned"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert element["list"].tolist() == [1, 2, 3]
    assert [x.shape for x in element["nest"]] == [(1,), (2,)]
    # Any other loader gives tensors too.
    (plain,) = as_dataset(lambda: [[torch.ones(1), torch.ones(2)]])
    assert [x.shape for x in plain] == [(1,), (2,)]
    with pytest.raises(TypeError, match=r"sparse_coo.*to_dense"):
        list(as_dataset(lambda: [torch.ones(2, 2).to_sparse()]))


class Broken(Rows):
    def __getitem__(self, index: int) -> Any:
        if index == 2:
            msg = "bad file"
            raise OSError(msg)
        return super().__getitem__(index)


@pytest.mark.parametrize("workers", [0, 1])
def test_errors_say_which_element(workers: int) -> None:
    with pytest.raises(OSError, match="bad file") as caught:
        list(as_dataset(Broken(4)).batch(4))
    assert "torch Broken(4)), for element 2" in caught.value.__notes__[-1]
    assert [int(e[1]) for e in as_dataset(Broken(4)).ignore_errors()] == [0, 1, 3]
    iterator = iter(as_dataset(data.DataLoader(Broken(4), num_workers=workers)))
    assert [int(next(iterator)[1][0]) for _ in range(2)] == [0, 1]
    for _ in range(2):
        with pytest.raises(OSError, match="bad file") as caught:
            next(iterator)
        assert "torch DataLoader), for element 2" in caught.value.__notes__[-1]
