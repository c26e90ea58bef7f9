"""Distributed datasets on one worker: what each replica gets, and when."""

from __future__ import annotations

import dataclasses
import gc
import json
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np
import pytest

import replax
from processes import wait_until
from replax import errors
from replax._src.input import distributed_dataset
from replax.data import Dataset
from replax.distribute import (
    InputContext,
    InputOptions,
    InputReplicationMode,
    MirroredStrategy,
    OneDeviceStrategy,
    PerReplica,
    Strategy,
)

EACH = InputReplicationMode.PER_REPLICA


def strategy_of(replicas: int) -> Strategy:
    return MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def lists(strategy: Strategy, value: Any) -> Any:
    """What each local replica has, as lists; nests keep their structure."""
    if isinstance(value, dict):
        return {key: lists(strategy, v) for key, v in value.items()}
    if isinstance(value, tuple):
        return tuple(lists(strategy, v) for v in value)
    parts = strategy.experimental_local_results(value)
    return [np.asarray(part).tolist() for part in parts]


def steps(strategy: Strategy, distributed: Any) -> list[Any]:
    return [lists(strategy, value) for value in distributed]


def rows(strategy: Strategy, distributed: Any) -> list[Any]:
    """The rows of all steps and replicas, one after the other."""
    found = steps(strategy, distributed)
    return [row for step in found for part in step for row in part]


def prefetchers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "replax-prefetch"]


class TestTheGuide:
    @pytest.mark.parametrize(
        ("rows", "size", "replicas", "wanted"),
        [
            (6, 4, 2, [[[0, 1], [2, 3]], [[4], [5]]]),
            (4, 4, 5, [[[0], [1], [2], [3], []]]),
            (8, 4, 3, [[[0, 1], [2, 3], []], [[4, 5], [6, 7], []]]),
        ],
    )
    def test_tables(self, rows: int, size: int, replicas: int, wanted: Any) -> None:
        strategy = strategy_of(replicas)
        dataset = Dataset.range(rows).batch(size)
        distributed = strategy.experimental_distribute_dataset(dataset)
        assert steps(strategy, distributed) == wanted
        assert steps(strategy, distributed) == wanted  # each loop begins anew
        assert len(distributed) == distributed.cardinality() == len(wanted)


class TestForeignDatasets:
    """Datasets of other libraries are given to both calls as they are."""

    @pytest.fixture
    def strategy(self) -> Strategy:
        return strategy_of(2)

    def _check(self, strategy: Strategy, make: Callable[[], Any]) -> None:
        """Batches 0-3, 4-7 and 8, 9."""
        split = strategy.experimental_distribute_dataset(make())
        assert steps(strategy, split) == [
            [[0, 1], [2, 3]],
            [[4, 5], [6, 7]],
            [[8], [9]],
        ]
        whole = strategy.distribute_datasets_from_function(lambda context: make())
        assert steps(strategy, whole) == [
            [[0, 1, 2, 3], [4, 5, 6, 7]],
            [[8, 9], []],
        ]

    def test_iterables_of_batches(self, strategy: Strategy) -> None:
        rows = np.arange(10)

        class Batches:
            def __iter__(self) -> Iterator[np.ndarray]:
                return iter([rows[:4], rows[4:8], rows[8:]])

        self._check(strategy, Batches)
        self._check(strategy, lambda: Batches().__iter__)

    def test_a_generator_serves_one_loop(self, strategy: Strategy) -> None:
        batches = (np.arange(i, i + 2) for i in (0, 2))
        distributed = strategy.experimental_distribute_dataset(batches)
        assert steps(strategy, distributed) == [[[0], [1]], [[2], [3]]]
        with pytest.raises(RuntimeError, match=r"iterated over once.*a function that"):
            steps(strategy, distributed)

    def test_grain(self, strategy: Strategy) -> None:
        grain = pytest.importorskip("grain")
        self._check(strategy, lambda: grain.MapDataset.range(10).batch(4))
        self._check(
            strategy, lambda: grain.MapDataset.range(10).batch(4).to_iter_dataset()
        )

    def test_hugging_face(self, strategy: Strategy) -> None:
        datasets = pytest.importorskip("datasets")
        source = datasets.Dataset.from_dict({"x": list(range(10))}).with_format("numpy")
        distributed = strategy.experimental_distribute_dataset(source.batch(4))
        assert [s["x"] for s in steps(strategy, distributed)] == [
            [[0, 1], [2, 3]],
            [[4, 5], [6, 7]],
            [[8], [9]],
        ]

    def test_torch(self, strategy: Strategy) -> None:
        torch = pytest.importorskip("torch")
        loader = torch.utils.data.DataLoader
        self._check(strategy, lambda: loader(range(10), batch_size=4))

    def test_tf_data(self, strategy: Strategy) -> None:
        tf = pytest.importorskip("tensorflow")
        self._check(strategy, lambda: tf.data.Dataset.range(10).batch(4))

    def test_what_is_no_dataset(self, strategy: Strategy) -> None:
        for given in (3, [1, 2], np.arange(3)):
            with pytest.raises(
                TypeError, match=r"experimental_distribute_dataset got .*as_dataset got"
            ):
                strategy.experimental_distribute_dataset(given)
        with pytest.raises(TypeError, match="the function of distribute_datasets_from"):
            strategy.distribute_datasets_from_function(lambda context: None)


class TestLength:
    def test_steps_are_counted(self) -> None:
        strategy = strategy_of(2)
        split = strategy.experimental_distribute_dataset
        assert len(split(Dataset.range(9).batch(4))) == 3
        assert split(Dataset.range(9).repeat().batch(4)).cardinality() == -1
        unknown = split(Dataset.range(9).filter(lambda x: x > 2).batch(4))
        assert unknown.cardinality() == -2
        with pytest.raises(TypeError, match=r"of unknown length; use cardinality\(\)"):
            len(unknown)
        with pytest.raises(TypeError, match=r"endless; use cardinality\(\)"):
            len(split(Dataset.range(9).repeat()))
        assert unknown  # a dataset is true, whatever its length

    def test_whole_elements_are_dealt_to_replicas(self) -> None:
        strategy = strategy_of(2)

        def make(context: InputContext) -> Dataset:
            return Dataset.range(5).batch(1)

        assert len(strategy.distribute_datasets_from_function(make)) == 3
        each = InputOptions(
            experimental_fetch_to_device=False, experimental_replication_mode=EACH
        )
        assert len(strategy.distribute_datasets_from_function(make, each)) == 5


class TestPositions:
    def test_a_position_is_gone_on_from(self) -> None:
        dataset = Dataset.range(20).shuffle(20).batch(4)
        two, three = strategy_of(2), strategy_of(3)
        iterator = iter(two.experimental_distribute_dataset(dataset))
        begun = rows(two, [next(iterator) for _ in range(2)])
        state = json.loads(json.dumps(iterator.get_state()))
        rest = rows(two, iterator)
        other = iter(three.experimental_distribute_dataset(dataset))
        other.set_state(state)
        assert rows(three, other) == rest
        assert sorted(begun + rest) == list(range(20))

    def test_before_and_after_the_last_element(self) -> None:
        strategy = strategy_of(2)
        distributed = strategy.experimental_distribute_dataset(
            Dataset.range(4).batch(2)
        )
        first = iter(distributed)
        start = first.get_state()
        assert len(steps(strategy, first)) == 2
        end = first.get_state()
        first.set_state(start)
        assert len(steps(strategy, first)) == 2
        first.set_state(end)
        assert steps(strategy, first) == []

    def test_one_position_for_each_dataset_of_replicas(self) -> None:
        strategy = strategy_of(2)
        options = InputOptions(
            experimental_fetch_to_device=False, experimental_replication_mode=EACH
        )
        distributed = strategy.distribute_datasets_from_function(
            lambda c: Dataset.range(c.input_pipeline_id * 10, 40).batch(2), options
        )
        iterator = iter(distributed)
        next(iterator)
        state = iterator.get_state()
        wanted = lists(strategy, next(iterator))
        assert wanted == [[2, 3], [12, 13]]
        iterator.set_state(state)
        assert lists(strategy, next(iterator)) == wanted
        with pytest.raises(
            errors.InvalidArgumentError, match=r"over 2 datasets.*a list of as many"
        ):
            iterator.set_state(state[0])

    def test_what_is_no_position_changes_nothing(self) -> None:
        strategy = strategy_of(2)
        iterator = iter(
            strategy.experimental_distribute_dataset(Dataset.range(4).batch(2))
        )
        other = iter(
            strategy.experimental_distribute_dataset(Dataset.range(5).batch(2))
        )
        next(iterator)
        with pytest.raises(errors.InvalidArgumentError, match="another dataset"):
            iterator.set_state(other.get_state())
        with pytest.raises(errors.InvalidArgumentError, match="what get_state"):
            iterator.set_state(7)
        assert steps(strategy, iterator) == [[[2], [3]]]

    def test_what_was_dealt_over_several_steps(self) -> None:
        """Positions of workers that deal out batches of their own."""
        dataset = Dataset.range(12).batch(6)
        for strategy, wanted in [
            (OneDeviceStrategy("CPU:0"), [[[4, 5]], [[6, 7, 8, 9, 10, 11]]]),
            (strategy_of(2), [[[4], [5]], [[6, 7, 8], [9, 10, 11]]]),
        ]:
            iterator = iter(strategy.experimental_distribute_dataset(dataset))
            state = iterator.get_state()
            state["position"] = {"batch": state["position"], "dealt": [2, 3]}
            iterator.set_state(state)
            assert iterator.get_state() == state
            assert steps(strategy, iterator) == wanted

    def test_where_the_slices_that_are_left_have_no_rows(self) -> None:
        for strategy, wanted in [
            (OneDeviceStrategy("CPU:0"), [[[5]]]),
            (strategy_of(2), [[[5], []]]),
        ]:
            dataset = Dataset.range(6).batch(5)
            iterator = iter(strategy.experimental_distribute_dataset(dataset))
            state = iterator.get_state()
            state["position"] = {"batch": state["position"], "dealt": [3, 4]}
            iterator.set_state(state)
            assert steps(strategy, iterator) == wanted


class TestOptions:
    def test_values_are_on_the_replicas_devices(self) -> None:
        strategy = strategy_of(2)
        dataset = Dataset.range(4).batch(2)
        for fetch in (None, True):
            options = InputOptions(experimental_fetch_to_device=fetch)
            distributed = strategy.experimental_distribute_dataset(dataset, options)
            (first, second) = next(iter(distributed)).values
            assert first.devices() == {jax.devices()[0]}
            assert second.devices() == {jax.devices()[1]}
        host = InputOptions(experimental_fetch_to_device=False)
        value = next(iter(strategy.experimental_distribute_dataset(dataset, host)))
        assert isinstance(value, PerReplica)
        assert all(isinstance(part, np.ndarray) for part in value.values)
        total = strategy.reduce("SUM", value, axis=0)
        assert int(total) == 1

    @pytest.mark.parametrize(("size", "wanted"), [(1, 2), (5, 5)])
    def test_so_many_steps_are_made_ahead(self, size: int, wanted: int) -> None:
        made: list[int] = []

        def note(x: Any) -> Any:
            made.append(1)
            return x

        strategy = strategy_of(2)
        options = InputOptions(experimental_per_replica_buffer_size=size)
        dataset = Dataset.range(100).batch(2).map(note)
        iterator = iter(strategy.experimental_distribute_dataset(dataset, options))
        assert not made
        next(iterator)
        taken = 1
        wait_until(lambda: len(made) >= wanted + taken, "they are made")
        next(iterator)
        wait_until(lambda: len(made) > wanted + taken, "one more is made")
        assert len(made) <= wanted + taken + 2

    def test_the_bytes_ahead_are_bounded(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(distributed_dataset, "AHEAD_BYTES", 2000)
        made: list[int] = []

        def note(x: Any) -> Any:
            made.append(1)
            return np.zeros((2, 100), np.float32)  # 800 bytes

        strategy = strategy_of(2)
        options = InputOptions(experimental_per_replica_buffer_size=50)
        dataset = Dataset.range(100).batch(2).map(note)
        iterator = iter(strategy.experimental_distribute_dataset(dataset, options))
        for taken in range(1, 20):
            next(iterator)
            wait_until(lambda n=taken + 3: len(made) >= n, "they are made")
            # Three do not fit, so one more is made than there is room for.
            assert len(made) <= taken + 4

    def test_options_that_make_no_sense(self) -> None:
        strategy = strategy_of(2)
        dataset = Dataset.range(4).batch(2)
        split = strategy.experimental_distribute_dataset
        with pytest.raises(NotImplementedError, match="distribute_datasets_from_func"):
            split(dataset, InputOptions(experimental_replication_mode=EACH))
        whole = strategy.distribute_datasets_from_function
        placed = InputOptions(experimental_place_dataset_on_device=True)
        with pytest.raises(ValueError, match="PER_REPLICA only"):
            whole(lambda c: dataset, placed)
        placed = dataclasses.replace(placed, experimental_replication_mode=EACH)
        with pytest.raises(ValueError, match=r"fetch_to_device=False, ...\) too"):
            whole(lambda c: dataset, placed)
        options: Any = {"fetch": True}
        with pytest.raises(TypeError, match=r"options is .*give a .*InputOptions"):
            split(dataset, options)
        with pytest.raises(ValueError, match="0; give how many steps"):
            InputOptions(experimental_per_replica_buffer_size=0)
        with pytest.raises(ValueError, match=r"10 does not divide by 4.*use 12 \(or 8"):
            InputContext(1, 0, 4).get_per_replica_batch_size(10)


class TestThreads:
    def test_none_is_started_before_the_first_step(self) -> None:
        strategy = strategy_of(2)
        before = len(prefetchers())
        iterator = iter(
            strategy.experimental_distribute_dataset(Dataset.range(4).batch(2))
        )
        assert iterator.element_spec is not None
        assert len(prefetchers()) == before

    @pytest.mark.parametrize("how", ["break", "del", "close", "error", "end"])
    def test_leaving_a_loop_ends_its_thread_and_frees_its_memory(
        self, how: str
    ) -> None:
        strategy = strategy_of(2)
        rows = np.zeros((100, 4))
        freed = weakref.ref(rows)
        dataset = Dataset.from_tensor_slices(rows).batch(4)
        if how != "end":
            dataset = dataset.repeat()
        distributed = strategy.experimental_distribute_dataset(dataset)
        before = len(prefetchers())
        self._leave(distributed, how)
        wait_until(lambda: len(prefetchers()) <= before, "the thread has ended")
        del dataset, distributed, rows
        wait_until(lambda: gc.collect() >= 0 and freed() is None, "the rows are freed")

    def _leave(self, distributed: Any, how: str) -> None:
        if how == "break":
            for _ in distributed:
                break
        elif how == "error":
            with pytest.raises(KeyError):
                self._fail(distributed)
        elif how == "end":
            for _ in distributed:
                pass
        else:
            iterator = iter(distributed)
            next(iterator)
            if how == "close":
                iterator.close()
                assert list(iterator) == []
            del iterator

    def _fail(self, distributed: Any) -> None:
        for _ in distributed:
            raise KeyError("stop")

    def test_an_error_reaches_the_loop_with_its_own_traceback(self) -> None:
        def fail_at_four(x: Any) -> Any:
            if 4 in x:
                raise ZeroDivisionError("at four")
            return x

        strategy = strategy_of(2)
        dataset = Dataset.range(8).batch(2).map(fail_at_four)
        iterator = iter(strategy.experimental_distribute_dataset(dataset))
        given = [lists(strategy, next(iterator)) for _ in range(2)]
        assert given == [[[0], [1]], [[2], [3]]]
        with pytest.raises(ZeroDivisionError, match="at four") as caught:
            next(iterator)
        names = [frame.name for frame in traceback.extract_tb(caught.tb)]
        assert names[-1] == "fail_at_four"
        assert "for element 2" in "".join(caught.value.__notes__)
        assert lists(strategy, next(iterator)) == [[6], [7]]

    def test_what_cannot_be_put_on_devices_is_said_in_the_loop(self) -> None:
        strategy = strategy_of(2)
        dataset = Dataset.from_tensor_slices({"n": [2**40, 1]}).batch(2)
        distributed = strategy.experimental_distribute_dataset(dataset)
        with pytest.raises(OverflowError, match=r"a batch of the dataset, in \['n'\]"):
            next(iter(distributed))


class TestMemory:
    def test_nothing_of_an_epoch_is_kept(self) -> None:
        """Not even until the garbage collector comes by: orders of rows are large."""
        strategy = strategy_of(8)
        dataset = Dataset.range(5000).shuffle(5000).batch(100)
        distributed = strategy.experimental_distribute_dataset(dataset)
        gc.collect()
        gc.disable()
        try:
            before = kept_by_iterations()
            for _ in range(5):
                assert sum(1 for _ in distributed) == 50
            wait_until(lambda: not prefetchers(), "all threads have ended")
            assert kept_by_iterations() == before
        finally:
            gc.enable()


def kept_by_iterations() -> int:
    kinds = {"_Written", "Orders", "Shelf", "Run", "Feed", "PerReplica"}
    return sum(type(thing).__name__ in kinds for thing in gc.get_objects())


class TestValues:
    def test_nests_of_arrays_and_strings(self) -> None:
        strategy = strategy_of(2)
        words = np.array([b"a", b"b", b"c"], object)
        dataset = Dataset.from_tensor_slices(
            {"w": words, "n": (np.arange(3), [0.5] * 3)}
        )
        distributed = strategy.experimental_distribute_dataset(dataset.batch(3))
        assert steps(strategy, distributed) == [
            {
                "w": [[b"a", b"b"], [b"c"]],
                "n": ([[0, 1], [2]], [[0.5, 0.5], [0.5]]),
            }
        ]

    def test_rows_are_not_copied_on_the_host(self) -> None:
        """Memory does not grow with the number of replicas."""
        from replax._src.input.steps import Rows, Split

        rows = np.arange(64, dtype=np.float32)
        elements = Dataset.from_tensors(rows).plan.open((0,))
        step = Split(elements, 16).take(1)
        assert step is not None
        (leaf,) = step.leaves
        assert isinstance(leaf, Rows)
        assert all(np.shares_memory(leaf.of(i), leaf.array) for i in range(16))

    def test_a_spec_can_be_a_signature(self) -> None:
        strategy = strategy_of(3)
        distributed = strategy.experimental_distribute_dataset(
            Dataset.range(8).batch(4)
        )

        @replax.function(input_signature=[distributed.element_spec])
        def double(x: Any) -> Any:
            return strategy.run(lambda v: v * 2, args=(x,))

        assert [lists(strategy, double(x)) for x in distributed] == [
            [[0, 2], [4, 6], []],
            [[8, 10], [12, 14], []],
        ]

    def test_single_values_are_refused(self) -> None:
        strategy = strategy_of(2)
        distributed = strategy.experimental_distribute_dataset(Dataset.range(4))
        with pytest.raises(
            IndexError, match=r"element 0.*single value.*2 replicas; call batch\(n\)"
        ):
            next(iter(distributed))


def test_what_is_distributed_is_not_distributed_again() -> None:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    data = strategy.experimental_distribute_dataset(Dataset.range(4).batch(2))
    message = "got <DistributedDataset range.*parts already; loop over it as it is"
    with pytest.raises(TypeError, match=message):
        strategy.experimental_distribute_dataset(data)
    with pytest.raises(TypeError, match=message):
        strategy.distribute_datasets_from_function(lambda _: data)
