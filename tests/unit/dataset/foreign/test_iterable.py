from __future__ import annotations

import collections
import traceback
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from positions import check_positions
from replax.data import Dataset, as_dataset

Point = collections.namedtuple("Point", ["x", "y"])  # noqa: PYI024


class Squares:
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        return iter([i * i for i in range(self.count)])


class Sized(Squares):
    def __init__(self, count: int, length: int) -> None:
        super().__init__(count)
        self.length = length

    def __len__(self) -> int:
        return self.length


class Source:
    """Elements by number, as the data sources of Grain have them."""

    def __init__(self, count: int, length: int | None = None) -> None:
        self.values = np.arange(count) * 2.5
        self.length = count if length is None else length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, number: int) -> Any:
        return {"value": self.values[number], "name": f"n{number}"}


def test_an_iterable_is_iterated_over_anew_for_each_pass() -> None:
    dataset = as_dataset(Squares(4))
    assert list(dataset) == [0, 1, 4, 9] == list(dataset)
    assert dataset.cardinality() == replax.data.UNKNOWN_CARDINALITY


def test_a_function_is_called_for_each_pass() -> None:
    calls: list[int] = []

    def make() -> Any:
        calls.append(1)
        return [3, 4]

    dataset = as_dataset(make).batch(2)
    assert [b.tolist() for b in dataset] == [[3, 4]]
    assert [b.tolist() for b in dataset.repeat(2)] == [[3, 4], [3, 4]]
    assert len(calls) == 3


def test_a_dataset_is_returned_as_it_is() -> None:
    dataset = Dataset.range(3)
    assert as_dataset(dataset) is dataset
    with pytest.raises(TypeError, match="leave element_spec out"):
        as_dataset(dataset, element_spec=replax.TensorSpec((), "int64"))


def test_positions_are_saved_at_every_step() -> None:
    assert check_positions(lambda: as_dataset(Squares(5))) == [0, 1, 4, 9, 16]
    batches = check_positions(lambda: as_dataset(Squares(7)).batch(3).repeat(2))
    assert len(batches) == 6
    check_positions(lambda: as_dataset(i for i in range(4)))
    check_positions(lambda: as_dataset(Squares(8)).prefetch(2))


def test_nests_and_strings() -> None:
    def make() -> Iterator[Any]:
        for i in range(3):
            yield Point({"s": f"t{i}", "b": b"raw"}, (jnp.ones(2) * i, [i, i]))

    first = check_positions(lambda: as_dataset(make))[1]
    assert isinstance(first, Point)
    assert first.x == {"s": "t1", "b": b"raw"}
    assert first.y[0].tolist() == [1, 1]
    assert first.y[1].tolist() == [1, 1]
    spec = as_dataset(make).element_spec
    assert spec.y[1] == replax.TensorSpec((2,), "int64")


def test_the_spec_can_be_given_and_is_checked() -> None:
    spec = replax.TensorSpec((), "float32")
    dataset = as_dataset(Squares(3), element_spec=spec)
    assert dataset.element_spec == spec
    assert [x.dtype for x in dataset] == [np.float32] * 3
    wrong = as_dataset(Squares(3), element_spec=replax.TensorSpec((2,), "int32"))
    with pytest.raises(ValueError, match=r"element 0 of .*element_spec says"):
        list(wrong)


def test_the_first_element_of_an_iterator_is_looked_at_and_not_lost() -> None:
    dataset = as_dataset(iter(range(3)))
    assert dataset.element_spec == replax.TensorSpec((), "int64")
    assert list(dataset) == [0, 1, 2]


def test_an_iterator_serves_one_pass() -> None:
    dataset = as_dataset(i for i in range(3))
    assert list(dataset) == [0, 1, 2]
    with pytest.raises(RuntimeError, match=r"iterated over once.*give a function"):
        list(dataset)


def test_no_elements_have_no_spec() -> None:
    with pytest.raises(ValueError, match="gives no elements"):
        print(as_dataset(Squares(0)).element_spec)
    assert list(as_dataset(Squares(0))) == []
    assert list(as_dataset(iter(()))) == []


@pytest.mark.parametrize(
    "source",
    [[1, 2], (1, 2), np.arange(3), range(3), {"x": [1]}, jnp.arange(2)],
    ids=lambda s: type(s).__name__,
)
def test_values_are_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="from_tensor_slices"):
        as_dataset(source)


def test_what_is_no_dataset_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be iterated over"):
        as_dataset(3)
    with pytest.raises(TypeError, match="TFRecordDataset"):
        as_dataset("train.tfrecord")
    with pytest.raises(TypeError, match="the function gave 3"):
        list(as_dataset(lambda: 3))


@pytest.mark.parametrize(("count", "length"), [(3, 5), (5, 3)])
def test_a_length_that_lies_is_an_error(count: int, length: int) -> None:
    dataset = as_dataset(Sized(count, length))
    assert dataset.cardinality() == length
    iterator = iter(dataset)
    assert [next(iterator) for _ in range(3)] == [0, 1, 4]
    with pytest.raises(ValueError, match=rf"{length} elements.*3"):
        next(iterator)


def test_errors_say_which_element_and_nothing_is_lost() -> None:
    broken = True

    def make() -> Iterator[int]:
        for i in range(5):
            if i == 3 and broken:
                msg = "no network"
                raise OSError(msg)
            yield i

    iterator = iter(as_dataset(make).batch(2))
    assert next(iterator).tolist() == [0, 1]
    for _ in range(2):
        with pytest.raises(OSError, match="no network") as caught:
            next(iterator)
        notes = "".join(traceback.format_exception_only(caught.value))
        assert "as_dataset(make), for element 3" in notes
    broken = False
    plain = iter(as_dataset(make))
    assert list(plain) == [0, 1, 2, 3, 4]


def test_an_error_passes_and_the_next_try_goes_on_there() -> None:
    broken = True

    def make() -> Iterator[int]:
        for i in range(4):
            if i == 2 and broken:
                msg = "once"
                raise OSError(msg)
            yield i

    iterator = iter(as_dataset(make))
    assert [next(iterator), next(iterator)] == [0, 1]
    state = iterator.get_state()
    with pytest.raises(OSError, match="once"):
        next(iterator)
    assert iterator.get_state() == state
    broken = False
    assert list(iterator) == [2, 3]


def test_ignore_errors_does_not_try_the_same_element_for_ever() -> None:
    def make() -> Iterator[int]:
        yield 1
        msg = "always"
        raise OSError(msg)

    with pytest.raises(OSError, match="always"):
        list(as_dataset(make).ignore_errors())


def test_an_interrupt_loses_nothing() -> None:
    interrupts = [KeyboardInterrupt()]

    def make() -> Iterator[int]:
        for i in range(4):
            if i == 2 and interrupts:
                raise interrupts.pop()
            yield i

    iterator = iter(as_dataset(make).batch(4))
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert next(iterator).tolist() == [0, 1, 2, 3]


def test_a_source_that_has_become_shorter_is_an_error() -> None:
    iterator = iter(as_dataset(Squares(5)))
    for _ in range(4):
        next(iterator)
    state = iterator.get_state()
    with pytest.raises(ValueError, match=r"ends after 2 elements.*behind 4"):
        iter(as_dataset(Squares(2))).set_state(state)


def test_what_has_numbers_is_read_by_number() -> None:
    dataset = as_dataset(Source(6))
    assert dataset.cardinality() == 6
    assert "by number" in dataset.explain()
    assert [e["name"] for e in dataset.skip(4)] == ["n4", "n5"]
    elements = check_positions(lambda: as_dataset(Source(6)).shuffle(6, seed=1))
    assert sorted(e["name"] for e in elements) == [f"n{i}" for i in range(6)]


def test_numbers_that_are_not_there_are_an_error() -> None:
    dataset = as_dataset(Source(3, length=5))
    with pytest.raises(ValueError, match="says that it has 5 elements, and element 3"):
        list(dataset)


def test_functions_follow() -> None:
    dataset = as_dataset(Squares(6)).map(lambda x: x + 1).filter(lambda x: x % 2 == 1)
    assert [int(x) for x in dataset] == [1, 5, 17]
    threads = as_dataset(Squares(6)).map(lambda x: x + 1, num_parallel_calls=2)
    assert [int(x) for x in threads] == [1, 2, 5, 10, 17, 26]
