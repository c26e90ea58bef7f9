"""What is said about who reads what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from replax._src.input.explain import Explanation, explained
from replax.data import Dataset, TFRecordDataset
from replax.data.experimental import SHARD_HINT, AutoShardPolicy
from replax.distribute import InputOptions, InputReplicationMode, MirroredStrategy

AUTO, FILE, DATA = AutoShardPolicy.AUTO, AutoShardPolicy.FILE, AutoShardPolicy.DATA
OFF, HINT = AutoShardPolicy.OFF, AutoShardPolicy.HINT


def explain(
    dataset: Any, counts: Sequence[int], policy: AutoShardPolicy = AUTO
) -> Explanation:
    return explained(dataset.plan, policy, counts)


def lines(explanation: Explanation) -> list[str]:
    return str(explanation).splitlines()


def table(explanation: Explanation) -> list[list[str]]:
    text = str(explanation)
    return [line.split() for line in text.partition("\n\n")[2].splitlines()]


def test_one_worker() -> None:
    strategy = MirroredStrategy([f"CPU:{i}" for i in range(3)])
    assert lines(strategy.explain(Dataset.range(8).batch(4))) == [
        "range(8).batch(4)",
        "replicas  3 of one worker, which reads everything",
        "steps     2",
        "",
        "step  replica 0  replica 1  replica 2",
        "   1  rows 0-1   rows 2-3   none",
        "   2  rows 4-5   rows 6-7   none",
    ]


def test_rows_of_several_workers() -> None:
    assert lines(explain(Dataset.range(12).batch(4), [1, 1])) == [
        "range(12).batch(4)",
        "replicas  2 of 2 workers",
        "policy    DATA: its options say AUTO, and range(12) is not read from files",
        "worker 0  rows 0-1 of every 4",
        "worker 1  rows 2-3 of every 4",
        "steps     3",
        "",
        "step  replica 0  replica 1",
        "   1  rows 0-1   rows 2-3",
        "   2  rows 4-5   rows 6-7",
        "   3  rows 8-9   rows 10-11",
    ]


def test_rows_that_every_worker_has_to_read() -> None:
    def kept(x: Any) -> bool:
        return x % 2 == 0

    found = explain(Dataset.range(12).filter(kept).batch(4), [1, 1])
    assert "workers 0-1  everything, of which it keeps the rows of its replicas" in (
        lines(found)
    )
    assert "steps        unknown number" in lines(found)
    assert "the last batch may have fewer than 4 rows" in str(found)


def test_files_of_several_workers() -> None:
    found = explain(TFRecordDataset(["a", "b", "c"]).batch(4), [1, 1])
    assert "worker 0  2 files: a, c" in lines(found)
    assert "worker 1  1 file: b" in lines(found)
    assert "each worker deals out batches of its own; a batch lasts 2 steps" in (
        str(found)
    )
    assert table(found) == [
        ["step", "replica", "0", "of", "each", "worker"],
        ["each", "2", "rows"],
    ]


def test_batches_of_every_workers_own() -> None:
    found = explain(Dataset.range(6).batch(4), [1, 1], OFF)
    assert found.steps == 4
    assert [row[1:] for row in table(found)[1:]] == [
        ["rows", "0-1"],
        ["rows", "2-3"],
        ["row", "4"],
        ["row", "5"],
    ]
    assert "a batch lasts 2 steps" in str(found)
    odd = explain(Dataset.range(5).batch(4), [1, 1], OFF)
    assert odd.steps == 3
    assert [row[1:] for row in table(odd)[1:]] == [
        ["rows", "0-1"],
        ["rows", "2-3"],
        ["row", "4"],
    ]
    assert "a batch lasts at most 2 steps" in str(odd)
    hinted = Dataset.range(6).shard(SHARD_HINT, SHARD_HINT).batch(4)
    assert "worker 1  range(6).shard(2, 1).batch(4)" in lines(
        explain(hinted, [1, 1], HINT)
    )


def test_many_steps_are_shown_by_kind() -> None:
    found = explain(Dataset.range(1000).batch(64), [2, 2])
    assert table(found) == [
        ["step", "replicas", "0-3"],
        ["1-15", "16", "rows"],
        ["16", "10", "rows"],
    ]
    endless = explain(Dataset.range(103).batch(16).repeat(), [4])
    assert endless.steps == -1
    assert table(endless)[:3] == [
        ["step", "replicas", "0-2", "replica", "3"],
        ["1-6", "4", "rows", "4", "rows"],
        ["7", "2", "rows", "1", "row"],
    ]
    assert "the first steps are shown; it goes on like that" in str(endless)


def test_thousands_of_workers_without_any() -> None:
    names = [f"part-{i}" for i in range(10_000)]
    found = explain(TFRecordDataset(names).batch(8192), [8] * 4096)
    assert "replicas      32,768 of 4,096 workers" in lines(found)
    assert "worker 4,095  2 files: part-4095, part-8191" in lines(found)
    assert len(lines(found)) < 25
    rows = explain(Dataset.range(10**9).batch(65_536), [8] * 4096)
    assert "worker 4,095  rows 65,520-65,535 of every 65,536" in lines(rows)


def test_sizes_that_are_not_known() -> None:
    def cut(x: Any) -> Any:
        return x

    unknown = Dataset.from_generator(
        lambda: iter([np.arange(3)]), output_types="int64", output_shapes=[None]
    ).map(cut)
    found = explain(unknown, [4])
    assert "batches may have any number of rows" in str(found)
    assert not found.kinds


def test_of_a_function() -> None:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    distributed = strategy.distribute_datasets_from_function(
        lambda context: Dataset.range(6).batch(2)
    )
    found = strategy.explain(distributed)
    assert found.steps == 2
    assert "every replica gets whole elements" in str(found)
    each = strategy.distribute_datasets_from_function(
        lambda context: Dataset.range(6).batch(2),
        InputOptions(
            experimental_fetch_to_device=False,
            experimental_replication_mode=InputReplicationMode.PER_REPLICA,
        ),
    )
    assert strategy.explain(each).steps == 3


def test_of_a_distributed_dataset() -> None:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    dataset = Dataset.range(6).batch(4)
    distributed = strategy.experimental_distribute_dataset(dataset)
    assert strategy.explain(distributed) == strategy.explain(dataset)


def test_what_is_no_dataset() -> None:
    strategy = MirroredStrategy(["CPU:0", "CPU:1"])
    with pytest.raises(TypeError, match=r"explain got 3: .*give a dataset"):
        strategy.explain(3)


def test_in_a_notebook() -> None:
    found = explain(Dataset.range(6).map(lambda x: x).batch(4), [2])
    page = found._repr_html_()
    assert "map(&lt;lambda&gt;)" in page
    assert "<td>rows 0-1</td>" in page
    assert repr(found) == str(found)


@hypothesis.given(
    st.integers(0, 70),
    st.integers(1, 20),
    st.booleans(),
    st.integers(1, 7),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_kinds_are_what_replicas_get(
    rows: int, size: int, drop: bool, replicas: int, repeat: int, skip: int
) -> None:
    dataset = Dataset.range(rows).batch(size, drop_remainder=drop)
    if repeat:
        dataset = dataset.repeat(repeat)
    dataset = dataset.skip(skip).take(12)
    strategy = MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
    found = strategy.explain(dataset)
    distributed = strategy.experimental_distribute_dataset(dataset)
    lengths = [
        [len(part) for part in strategy.experimental_local_results(step)]
        for step in distributed
    ]
    said = [
        [length for count, length in kind.rows for _ in range(count)]
        for kind in found.kinds
        for _ in range(kind.steps)
    ]
    assert found.steps == len(lengths)
    if "the first steps are shown" in str(found):
        lengths = lengths[: len(said)]
    assert said == lengths
