"""Which part of a dataset each worker reads, for any number of workers without any."""

from __future__ import annotations

import logging
import tracemalloc
from collections.abc import Sequence
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from replax import errors
from replax._src.dataset.node import INFINITE, UNKNOWN, Cursor, Node
from replax._src.dataset.seeding import chances, with_seeds
from replax._src.dataset.sources.names import path_of
from replax._src.input.autoshard import (
    Share,
    Worker,
    read_from_files,
    share,
    warn_of_fallback,
)
from replax._src.input.batch_sizes import steps_of_slices
from replax._src.input.split import parts
from replax._src.input.steps import Dealt, Parts
from replax.data import Dataset, TextLineDataset, TFRecordDataset
from replax.data.experimental import SHARD_HINT, AutoShardPolicy

AUTO, FILE, DATA = AutoShardPolicy.AUTO, AutoShardPolicy.FILE, AutoShardPolicy.DATA
OFF, HINT = AutoShardPolicy.OFF, AutoShardPolicy.HINT


def shares(dataset: Any, policy: AutoShardPolicy, counts: Sequence[int]) -> list[Share]:
    return [
        share(dataset.plan, policy, Worker.among(counts, i)) for i in range(len(counts))
    ]


def opened(plan: Node) -> Cursor:
    """The first iteration."""
    return with_seeds(plan, [chance.seed for chance in chances(plan)]).open((0,))


def numbers(plan: Node) -> list[Any]:
    cursor = opened(plan)
    found = []
    while (block := cursor.take(1)) is not None:
        found.append(np.asarray(block.element(0)).tolist())
    return found


def own_rows(plan: Node) -> list[list[int]]:
    """The rows of each batch that a plan of parts reads."""
    cursor = opened(plan)
    found = []
    while (block := cursor.take(1)) is not None:
        found.append(block.columns[0][0].tolist())
    return found


def file_names(plan: Node) -> list[str]:
    (names,) = read_from_files(plan)
    return [path_of(name) for name in numbers(names)]


class TestWhatIsChosen:
    def test_readers_are_shared_by_file_and_all_else_by_rows(self) -> None:
        names = Dataset.from_tensor_slices(["a", "b"])
        for dataset, policy in [
            (TextLineDataset(["a", "b"]).map(len).batch(4), FILE),
            (names.interleave(TextLineDataset).shuffle(3).batch(4), FILE),
            (names.flat_map(TFRecordDataset).batch(4), FILE),
            (Dataset.zip(TextLineDataset(["a"]), TextLineDataset(["b"])), FILE),
            (Dataset.range(8).batch(4), DATA),
            (names.map(len), DATA),
            (Dataset.zip(TextLineDataset(["a"]), Dataset.range(3)), DATA),
        ]:
            found = share(dataset.plan, AUTO, Worker())
            assert found.policy is policy, dataset
            assert "its options say AUTO" in found.reason

    def test_the_reason_names_what_is_not_read_from_files(self) -> None:
        found = share(Dataset.range(8).batch(4).plan, AUTO, Worker())
        assert found.reason.endswith("range(8) is not read from files")
        assert share(Dataset.range(8).plan, OFF, Worker()).reason == (
            "its options say OFF"
        )

    def test_falling_back_to_rows_is_said(self, caplog: Any) -> None:
        with caplog.at_level(logging.WARNING, "replax"):
            for policy in (DATA, OFF):
                warn_of_fallback(share(Dataset.range(8).plan, policy, Worker()))
            assert not caplog.records
            warn_of_fallback(share(Dataset.range(8).plan, AUTO, Worker()))
        assert "shared by rows (DATA)" in caplog.text
        assert "range(8) is not read from files" in caplog.text

    def test_one_worker_reads_the_plan_as_it_is(self) -> None:
        for policy in (AUTO, DATA, OFF, FILE, HINT):
            plan = Dataset.range(8).batch(4).plan
            assert share(plan, policy, Worker.among([4], 0)).plan is plan


class TestFiles:
    def test_files_are_dealt_out_in_turn(self) -> None:
        dataset = TextLineDataset([f"{i}" for i in range(5)]).batch(2)
        found = [file_names(s.plan) for s in shares(dataset, FILE, [1, 1])]
        assert found == [["0", "2", "4"], ["1", "3"]]

    def test_every_reader_is_sharded(self) -> None:
        both = Dataset.zip(TextLineDataset(["a", "b"]), TFRecordDataset(["c", "d"]))
        for i, shared in enumerate(shares(both, FILE, [1, 1])):
            one, other = read_from_files(shared.plan)
            assert numbers(one) == [[b"a", b"b"][i]]
            assert numbers(other) == [[b"c", b"d"][i]]

    def test_a_million_files_over_thousands_of_workers(self) -> None:
        names = Dataset.range(1_000_000)
        dataset = names.flat_map(lambda i: TextLineDataset(f"file-{i}")).batch(64)
        counts = [8] * 4096
        found = [read_from_files(s.plan)[0] for s in shares(dataset, FILE, counts)]
        assert sum(names.cardinality() for names in found) == 1_000_000
        assert {names.cardinality() for names in found} == {244, 245}
        assert numbers(found[4095])[:2] == [4095, 8191]

    def test_what_a_worker_holds_does_not_grow_with_the_workers(self) -> None:
        names = np.array([f"file-{i}".encode() for i in range(10_000)])
        dataset = TextLineDataset(names).batch(64)

        def held(workers: int) -> int:
            worker = Worker.among([1] * workers, 0)
            share(dataset.plan, FILE, worker)  # caches are filled
            tracemalloc.start()
            try:
                kept = share(dataset.plan, FILE, worker)
                assert kept.policy is FILE
                return tracemalloc.get_traced_memory()[0]
            finally:
                tracemalloc.stop()

        assert held(10_000) < held(2) + 1000

    @pytest.mark.parametrize("index", range(3))
    def test_too_few_files_are_an_error_on_every_worker(self, index: int) -> None:
        dataset = TextLineDataset(["a", "b"]).batch(2)
        for policy in (AUTO, FILE):
            with pytest.raises(
                errors.InvalidArgumentError,
                match=r"has 2 files for 3 workers; use .*AutoShardPolicy.DATA, or "
                r"write at least 3 files",
            ):
                share(dataset.plan, policy, Worker.among([1] * 3, index))

    def test_no_files_are_an_error(self) -> None:
        with pytest.raises(
            errors.NotFoundError, match=r"range\(4\) is shared by files.*use .*DATA"
        ):
            share(Dataset.range(4).plan, FILE, Worker.among([1, 1], 0))


class TestRows:
    def test_the_guides_table(self) -> None:
        dataset = Dataset.range(12).batch(4)
        found = [own_rows(s.plan) for s in shares(dataset, DATA, [1, 1])]
        assert found == [[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]

    @hypothesis.given(
        st.integers(0, 60),
        st.integers(1, 20),
        st.booleans(),
        st.lists(st.integers(1, 4), min_size=2, max_size=5),
        st.sampled_from(["", "shuffle", "repeat", "take", "filter", "prefetch"]),
    )
    def test_workers_read_each_row_of_each_batch_once(
        self, rows: int, size: int, drop: bool, counts: list[int], then: str
    ) -> None:
        dataset = Dataset.range(rows)
        if then == "filter":
            dataset = dataset.filter(lambda x: x % 3 > 0)
        if then == "shuffle":
            dataset = dataset.shuffle(7, seed=1)
        dataset = dataset.batch(size, drop_remainder=drop)
        if then == "repeat":
            dataset = dataset.repeat(2)
        if then == "take":
            dataset = dataset.take(2)
        if then == "prefetch":
            dataset = dataset.prefetch(1)
        found = [own_rows(s.plan) for s in shares(dataset, DATA, counts)]
        whole = numbers(dataset.plan)
        assert all(len(batches) == len(whole) for batches in found)
        for number, batch in enumerate(whole):
            assert [row for batches in found for row in batches[number]] == batch

    def test_replicas_get_the_slices_of_the_whole_batch(self) -> None:
        dataset = Dataset.range(23).batch(10)
        counts = [2, 1, 3]
        steps = []
        for shared, first in zip(shares(dataset, DATA, counts), (0, 2, 3), strict=True):
            local = counts[[0, 2, 3].index(first)]
            own = Parts(shared.plan.open((0,)), 6, first, local)
            steps.append([own.take(1) for _ in range(3)])
        for number, batch in enumerate(dataset):
            given = [leaf for worker in steps for leaf in worker[number].leaves[0]]
            bounds = parts(len(batch), 6)
            assert [g.tolist() for g in given] == [
                batch[a:b].tolist() for a, b in bounds
            ]
            for worker in steps:
                shapes = worker[number].shapes
                assert shapes == [tuple((b - a,) for a, b in bounds)]

    def test_a_worker_reads_no_rows_but_its_own(self) -> None:
        class Counting:
            def __init__(self) -> None:
                self.read: list[int] = []

            def __len__(self) -> int:
                return 64

            def __getitem__(self, number: int) -> np.int64:
                self.read.append(number)
                return np.int64(number)

        from replax.data import as_dataset

        source = Counting()
        dataset = as_dataset(source).batch(16)
        _, other = shares(dataset, DATA, [2, 2])
        dataset.plan.spec()  # looks at one element
        source.read.clear()
        assert own_rows(other.plan)[0] == list(range(8, 16))
        assert sorted(source.read) == [
            i for start in (0, 16, 32, 48) for i in range(start + 8, start + 16)
        ]

    def test_thousands_of_workers(self) -> None:
        dataset = Dataset.range(10**9).shuffle(10**9, seed=1).batch(65_536)
        seen: list[int] = []
        for index in range(0, 4096, 512):
            worker = Worker.among([2] * 4096, index)
            plan = with_seeds(share(dataset.plan, DATA, worker).plan, [1])
            block = plan.rows(range(7, 8), (0,))
            assert block.columns[0][0].shape == (16,)
            seen += block.columns[0][0].tolist()
        assert len(set(seen)) == len(seen)

    def test_positions_are_those_of_the_whole_dataset(self) -> None:
        for dataset in (
            Dataset.range(40).shuffle(40, seed=3).batch(8),
            Dataset.range(40).filter(lambda x: x % 2 > 0).batch(8),
        ):
            cursor = opened(dataset.plan)
            cursor.take(1)
            cursor.take(1)
            position = cursor.state()
            rest = cursor.take(1)
            assert rest is not None
            found: list[int] = []
            for shared in shares(dataset, DATA, [1, 1, 1]):
                own = opened(shared.plan)
                own.restore(position)
                part = own.take(1)
                assert part is not None
                found += part.columns[0][0].tolist()
            assert found == rest.element(0).tolist()

    def test_single_values_cannot_be_shared(self) -> None:
        plan = share(Dataset.range(4).plan, DATA, Worker.among([1, 1], 0)).plan
        with pytest.raises(IndexError, match=r"single value.*2 replicas; call batch"):
            plan.open((0,)).take(1)


class TestOthers:
    def test_off_reads_everything(self) -> None:
        plan = Dataset.range(8).batch(4).plan
        assert share(plan, OFF, Worker.among([1, 1], 1)).plan is plan

    def test_hint_puts_the_worker_in_place(self) -> None:
        dataset = Dataset.range(7).shard(SHARD_HINT, SHARD_HINT).batch(4)
        found = [numbers(s.plan) for s in shares(dataset, HINT, [1, 1])]
        assert found == [[[0, 2, 4, 6]], [[1, 3, 5]]]

    @pytest.mark.parametrize("index", range(3))
    def test_dealing_wants_equally_many_devices(self, index: int) -> None:
        worker = Worker.among([1, 2, 3], index)
        files = TextLineDataset(["a", "b", "c"]).batch(2)
        for dataset, policy in ((files, FILE), (files, OFF), (files, HINT)):
            with pytest.raises(
                errors.InvalidArgumentError,
                match=rf"shared by {policy.name}.*different numbers of devices.*DATA",
            ):
                share(dataset.plan, policy, worker)
        assert share(Dataset.range(9).plan, DATA, worker).holds_parts

    def test_a_batch_is_dealt_out_over_several_steps(self) -> None:
        elements = Dataset.range(11).batch(7).plan.open((0,))
        dealt = Dealt(elements, 4, 2)
        found = []
        states = []
        while True:
            states.append(dealt.state())
            step = dealt.take(1)
            if step is None:
                break
            (leaf,) = step.leaves
            assert isinstance(leaf, list)
            found.append([part.tolist() for part in leaf])
        assert found == [[[0, 1], [2, 3]], [[4, 5], [6]], [[7], [8]], [[9], [10]]]
        assert states[1] == {"batch": 0, "dealt": [2, 4]}
        assert states[2] == 1

    @hypothesis.given(
        st.integers(0, 60),
        st.integers(1, 20),
        st.integers(1, 4),
        st.integers(1, 3),
        st.integers(0, 3),
        st.integers(0, 3),
    )
    def test_steps_without_rows_are_not_counted(
        self, rows: int, size: int, workers: int, local: int, repeat: int, skip: int
    ) -> None:
        dataset = Dataset.range(rows).batch(size).repeat(repeat).prefetch(1).skip(skip)
        dealt = Dealt(dataset.plan.open((0,)), workers * local, local)
        count = 0
        while (step := dealt.take(1)) is not None:
            count += step.has_rows
        assert steps_of_slices(dataset.plan, workers * local, local) == count

    def test_functions_may_change_the_number_of_rows(self) -> None:
        batches = Dataset.range(6).batch(4, drop_remainder=True)
        assert steps_of_slices(batches.map(lambda x: x).plan, 4, 1) == 4
        halves = Dataset.range(6).batch(4).map(lambda x: x[x % 2 == 0])
        assert steps_of_slices(halves.plan, 4, 1) == UNKNOWN
        assert steps_of_slices(halves.repeat().plan, 4, 1) == INFINITE
