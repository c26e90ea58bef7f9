"""Positions: saved anywhere, and gone on with exactly."""

from __future__ import annotations

import json
import pathlib
import pickle
from collections.abc import Iterator
from typing import Any

import cloudpickle
import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import fresh_process
import naive
import plans
import replax
from replax.data import Dataset, DatasetIterator


def saved(iterator: DatasetIterator) -> Any:
    """The position as another process would find it."""
    return json.loads(json.dumps(iterator.get_state()))


def resumed(dataset: Dataset, state: Any) -> DatasetIterator:
    iterator = iter(dataset)
    iterator.set_state(state)
    return iterator


def taken(iterator: Iterator[Any], count: int) -> list[Any]:
    return [element for element, _ in zip(iterator, range(count), strict=False)]


def goes_on_exactly(plan: plans.Plan, first: int, second: int) -> None:
    dataset = plan.build()
    iterator = iter(dataset)
    for _ in zip(range(first), iterator, strict=False):
        pass
    state = saved(iterator)
    rest = list(iterator)
    later = list(dataset)

    other = plan.build()
    iterator = resumed(other, state)
    begun = [element for _, element in zip(range(second), iterator, strict=False)]
    again = resumed(plan.build(), saved(iterator))
    assert naive.all_same(begun + list(iterator), rest)
    assert naive.all_same(begun + list(again), rest)
    assert naive.all_same(list(other), later)


@hypothesis.settings(max_examples=100)
@hypothesis.given(plans.plans(), st.integers(0, 20), st.integers(0, 5))
def test_plans_go_on_exactly(plan: plans.Plan, first: int, second: int) -> None:
    goes_on_exactly(plan, first, second)


@hypothesis.settings(max_examples=100)
@hypothesis.given(plans.random_plans(), st.integers(0, 20), st.integers(0, 5))
def test_random_plans_go_on_exactly(plan: plans.Plan, first: int, second: int) -> None:
    goes_on_exactly(plan, first, second)


# Most plans have a step that keeps them from being read by number.
@hypothesis.settings(
    max_examples=50,
    suppress_health_check=[
        hypothesis.HealthCheck.filter_too_much,
        hypothesis.HealthCheck.too_slow,
    ],
)
@hypothesis.given(plans.random_plans(), st.integers(0, 20))
def test_positions_of_plans_by_number_are_small(plan: plans.Plan, count: int) -> None:
    hypothesis.assume(plan.indexed)
    iterator = iter(plan.build())
    for _ in zip(range(count), iterator, strict=False):
        pass
    assert len(json.dumps(iterator.get_state())) < 1024


def test_later_loops_go_on_with_their_orders() -> None:
    def build() -> Dataset:
        return Dataset.range(8).shuffle(8, seed=3)

    dataset = build()
    epochs = [list(dataset) for _ in range(2)]
    iterator = iter(dataset)
    begun = [next(iterator) for _ in range(3)]
    state = saved(iterator)
    rest, later = list(iterator), list(dataset)
    assert sorted(begun + rest) == sorted(later) == list(range(8))
    assert len({tuple(epoch) for epoch in [*epochs, begun + rest, later]}) == 4

    other = build()
    assert list(resumed(other, state)) == rest
    assert list(other) == later


def test_the_same_iterator_goes_back() -> None:
    iterator = iter(Dataset.range(9).shuffle(4).map(lambda x: x + 1))
    begun = [next(iterator) for _ in range(4)]
    state = saved(iterator)
    rest = list(iterator)
    for _ in range(2):
        iterator.set_state(state)
        assert list(iterator) == rest
    assert sorted(begun + rest) == list(range(1, 10))


def test_positions_at_the_end_and_behind_it() -> None:
    for dataset in (
        Dataset.range(3),
        Dataset.range(3).filter(lambda x: True),
        Dataset.range(3).filter(lambda x: True).shuffle(10, seed=1),
        Dataset.range(3).filter(lambda x: True).shuffle(2, seed=1),
        Dataset.range(3).map(lambda x: x).prefetch(2),
        Dataset.from_generator(lambda: iter(range(3))),
        Dataset.range(3).window(2).flat_map(lambda w: w),
    ):
        iterator = iter(dataset)
        assert len(list(iterator)) == 3
        assert list(resumed(dataset, saved(iterator))) == []


def test_states_of_scan_keep_what_kind_of_number_they_are() -> None:
    for start in (0, 0.5, True, np.float32(2), np.arange(3, dtype=np.int8)):
        dataset = Dataset.range(5, output_type=np.int16).scan(
            (start, {"n": 0}), lambda s, x: ((s[0] + x, {"n": s[1]["n"] + 1}), s[0] + x)
        )
        iterator = iter(dataset)
        first = next(iterator)
        again = resumed(dataset, saved(iterator))
        rest = list(iterator)
        assert naive.all_same(list(again), rest)
        assert naive.all_same(list(dataset), [first, *rest])


def test_a_state_of_scan_that_cannot_be_saved() -> None:
    words = np.array([b"a"], object)
    iterator = iter(Dataset.range(3).scan(words, lambda state, x: (state + b"b", x)))
    next(iterator)
    with pytest.raises(
        TypeError, match=r"cannot be saved while its state is array.*have to be numbers"
    ):
        iterator.get_state()


def test_positions_do_not_depend_on_the_number_of_workers() -> None:
    def build(workers: int, ahead: int) -> Dataset:
        return (
            Dataset.range(20)
            .map(lambda x: x + 1, num_parallel_calls=workers)
            .interleave(Dataset.range, cycle_length=2, num_parallel_calls=workers)
            .prefetch(ahead)
        )

    iterator = iter(build(2, 1))
    for _ in range(7):
        next(iterator)
    state = saved(iterator)
    assert list(resumed(build(4, 3), state)) == list(iterator)


class TestPositionsThatDoNotFit:
    def test_of_another_dataset(self) -> None:
        state = iter(Dataset.range(5)).get_state()
        iterator = iter(Dataset.range(5).batch(2))
        with pytest.raises(
            replax.errors.InvalidArgumentError,
            match=r"saved from another dataset than range\(5\).batch\(2\); build the",
        ):
            iterator.set_state(state)
        assert [x.tolist() for x in iterator] == [[0, 1], [2, 3], [4]]

    @pytest.mark.parametrize("state", [None, {}, 3, {"version": 1}, []])
    def test_nonsense(self, state: Any) -> None:
        with pytest.raises(
            replax.errors.InvalidArgumentError,
            match=r"set_state got .*; give what get_state has returned",
        ):
            iter(Dataset.range(5)).set_state(state)

    def test_of_another_version(self) -> None:
        state = iter(Dataset.range(5)).get_state() | {"version": 77}
        with pytest.raises(
            replax.errors.InvalidArgumentError,
            match=r"format 77, and this version of Replax knows format 1; go on with",
        ):
            iter(Dataset.range(5)).set_state(state)


# Programs that are run twice: whole, and from a position that the first run has saved.
_PROGRAM = """
import json, pathlib, sys
import numpy as np
from replax.data import Dataset

{build}

def shown(element):
    return np.asarray(element).tolist()

dataset = build()
path = pathlib.Path(sys.argv[1])
if not path.exists():
    for _ in range({epochs}):
        list(dataset)
    iterator = iter(dataset)
    for _ in range({count}):
        next(iterator)
    path.write_text(json.dumps(iterator.get_state()))
else:
    iterator = iter(dataset)
    iterator.set_state(json.loads(path.read_text()))
print([shown(x) for x in iterator], [shown(x) for x in dataset])
"""


@pytest.mark.parametrize(
    ("build", "epochs", "count"),
    [
        ("Dataset.range(20).shuffle(20).batch(3)", 1, 4),
        ("Dataset.range(20).filter(lambda x: x % 3 > 0).shuffle(4).repeat(2)", 2, 9),
        (
            (
                "Dataset.range(6).interleave(lambda n: Dataset.range(n).shuffle(3), 3,"
                " num_parallel_calls=2).map(lambda x: x + 1, 2).prefetch(3)"
            ),
            0,
            7,
        ),
        (
            (
                "Dataset.sample_from_datasets([Dataset.range(9), Dataset.random()])"
                ".take(20).scan(0.5, lambda s, x: (s + x, s)).window(3, 2)"
                ".flat_map(lambda w: w.batch(3))"
            ),
            1,
            3,
        ),
        ("Dataset.range(9).shuffle(9).map(lambda x: x).cache().repeat(2)", 0, 12),
    ],
)
def test_another_process_goes_on_exactly(
    tmp_path: Any, build: str, epochs: int, count: int
) -> None:
    program = _PROGRAM.format(
        build=f"def build():\n    return {build}", epochs=epochs, count=count
    )
    script = tmp_path / "program.py"
    script.write_text(program)
    position = str(tmp_path / "position")
    first = fresh_process.run_python(str(script), position)
    assert fresh_process.run_python(str(script), position) == first


# A process that goes on with many plans, each from the position that it was handed.
_SUCCESSOR = """
import pathlib, pickle, sys
import cloudpickle, naive, replax

def resumed(job, options):
    dataset = cloudpickle.loads(job["build"])().with_options(options)
    iterator = iter(dataset)
    iterator.set_state(job["state"])
    return dataset, iterator

for job in pickle.loads(pathlib.Path(sys.argv[1]).read_bytes()):
    options = replax.data.Options()
    options.worker_processes = job["workers"]
    dataset, iterator = resumed(job, options)
    begun = [x for _, x in zip(range(job["second"]), iterator)]
    job["state"] = iterator.get_state()
    assert naive.all_same(begun + list(iterator), job["rest"]), job["words"]
    assert naive.all_same(list(dataset), job["later"]), job["words"]
    _, again = resumed(job, options)
    assert naive.all_same(begun + list(again), job["rest"]), job["words"]
print("all of them")
"""


def job_of(
    plan: plans.Plan, epochs: int, first: int, second: int, workers: int
) -> dict[str, Any]:
    """A position in a later pass of a plan, and what follows it."""
    options = replax.data.Options()
    options.worker_processes = workers
    dataset = plan.build().with_options(options)
    for _ in range(epochs):
        list(dataset)
    iterator = iter(dataset)
    taken(iterator, first)
    return {
        "words": (plan.words, epochs, first, second, workers),
        "build": cloudpickle.dumps(plan.build),
        "state": saved(iterator),
        "second": second,
        "workers": workers,
        "rest": list(iterator),
        "later": list(dataset),
    }


@pytest.fixture
def by_value() -> Iterator[None]:
    """Lets functions of the modules of tests be rebuilt where there are none."""
    for module in (plans, naive):
        cloudpickle.register_pickle_by_value(module)
    yield
    for module in (plans, naive):
        cloudpickle.unregister_pickle_by_value(module)


@pytest.mark.usefixtures("by_value")
@pytest.mark.parametrize(("workers", "count"), [(0, 40), (2, 4)])
def test_random_plans_go_on_in_another_process(
    tmp_path: pathlib.Path, workers: int, count: int
) -> None:
    jobs: list[dict[str, Any]] = []

    @hypothesis.settings(max_examples=count, database=None)
    @hypothesis.given(
        st.one_of(plans.plans(), plans.random_plans()),
        st.integers(0, 2),
        st.integers(0, 20),
        st.integers(0, 5),
    )
    def collect(plan: plans.Plan, epochs: int, first: int, second: int) -> None:
        jobs.append(job_of(plan, epochs, first, second, workers))

    collect()
    path = tmp_path / "jobs"
    path.write_bytes(pickle.dumps(jobs))
    script = tmp_path / "successor.py"
    script.write_text(_SUCCESSOR)
    assert fresh_process.run_python(str(script), str(path)) == "all of them\n"
