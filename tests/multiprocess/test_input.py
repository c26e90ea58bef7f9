"""The input of two workers: what each gets, and what is said when they do not agree."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replax.testing import ProcessesResult, run_processes

# What one program tries, one thing after the other, on every worker.
Trials = dict[str, Any]


def lists(strategy: Any, value: Any) -> Any:
    """What each local replica has."""
    if isinstance(value, dict):
        return {key: lists(strategy, v) for key, v in value.items()}
    parts = strategy.experimental_local_results(value)
    return [np.asarray(part).tolist() for part in parts]


def steps(strategy: Any, distributed: Any) -> list[Any]:
    return [lists(strategy, value) for value in distributed]


def attempt(function: Callable[[], Any]) -> str:
    """The error of a function, in words."""
    try:
        return f"returned {function()}"
    except Exception as error:  # noqa: BLE001 - which one it is, is the answer
        notes = " ".join(getattr(error, "__notes__", []))
        return f"{type(error).__name__}: {error} {notes}".rstrip()


def with_policy(dataset: Any, name: str) -> Any:
    from replax.data import Options
    from replax.data.experimental import AutoShardPolicy

    options = Options()
    options.experimental_distribute.auto_shard_policy = AutoShardPolicy[name]
    return dataset.with_options(options)


def the_guides_tables(folder: str) -> Trials:
    """Files 0-5 and 6-11, and the numbers 0-11, in batches of 4."""
    from replax.data import Dataset, TextLineDataset
    from replax.distribute import MultiWorkerMirroredStrategy

    strategy = MultiWorkerMirroredStrategy()
    files = [str(Path(folder, name)) for name in ("one.txt", "two.txt")]
    lines = TextLineDataset(files).map(np.int64).batch(4)
    numbers = Dataset.range(12).batch(4)
    found = {}
    for name, dataset in (("FILE", lines), ("DATA", numbers), ("OFF", numbers)):
        distributed = strategy.experimental_distribute_dataset(
            with_policy(dataset, name)
        )
        found[name] = steps(strategy, distributed), distributed.cardinality()
    return found


def trials() -> Trials:
    from replax.distribute import MultiWorkerMirroredStrategy

    strategy = MultiWorkerMirroredStrategy()
    return {
        **trials_of_unknown_lengths(strategy),
        **trials_of_steps_without_rows(strategy),
        **trials_of_shuffling(strategy),
        **trials_of_warnings(strategy),
        **trials_of_errors(strategy),
        **trials_of_going_apart(strategy),
    }


def uneven(context: Any) -> Any:
    """Batches whose number nobody knows: 7 on one worker, 5 on the other."""
    import replax

    first, count = ((0, 7), (10, 5))[context.input_pipeline_id]

    def rows() -> Iterator[Any]:
        for i in range(first, first + count):
            yield np.full(2, i, np.float32)

    spec = replax.TensorSpec([None], np.float32)
    return replax.data.Dataset.from_generator(rows, output_signature=spec)


def trials_of_unknown_lengths(strategy: Any) -> Trials:
    import jax.numpy as jnp

    import replax
    from replax.data import Dataset

    @replax.function
    def total(x: Any) -> Any:
        sums = strategy.run(jnp.sum, args=(x,))
        return strategy.reduce("SUM", sums, axis=None)

    distributed = strategy.distribute_datasets_from_function(uneven)
    epochs = [[float(total(x)) for x in distributed] for _ in range(3)]

    # One worker has nothing at all, and strings have no devices.
    def words(context: Any) -> Any:
        rows = {"w": np.array([b"a", b"b"], object), "n": np.arange(2)}
        dataset = Dataset.from_tensor_slices(rows).batch(2)
        return dataset.skip(context.input_pipeline_id)

    empty = steps(strategy, strategy.distribute_datasets_from_function(words))

    # What is said about steps is removed when all have heard it.
    def many(context: Any) -> Any:
        return Dataset.range(200).filter(lambda x: x >= 0).batch(1)

    for _ in range(2):
        steps(strategy, strategy.distribute_datasets_from_function(many))
    coordination = strategy.place.topology.agreement.coordination
    said = coordination.all_below("replax/input")
    return {
        "said": len(said),
        "uneven": epochs,
        "cardinality": distributed.cardinality(),
        "empty": empty,
    }


def trials_of_steps_without_rows(strategy: Any) -> Trials:
    from replax.data import Dataset
    from replax.data.experimental import SHARD_HINT

    numbers = Dataset.range(5)
    parts = Dataset.range(10).shard(SHARD_HINT, SHARD_HINT).batch(4).repeat(2)
    found: list[Any] = []
    for name, dataset in [
        ("OFF", numbers.batch(4).repeat(2)),
        ("OFF", numbers.filter(lambda x: x >= 0).batch(4).repeat(2)),
        ("OFF", numbers.batch(4).map(lambda x: x[x != 4])),
        ("HINT", parts),
    ]:
        distributed = strategy.experimental_distribute_dataset(
            with_policy(dataset, name)
        )
        taken: list[Any] = []
        rests: list[Any] = []
        iterator = iter(distributed)
        states = [iterator.get_state()]
        for value in iterator:
            taken.append(lists(strategy, value))
            states.append(iterator.get_state())
        for state in states:
            iterator.set_state(state)
            rests.append(steps(strategy, iterator))
        goes_on = rests == [taken[i:] for i in range(len(taken) + 1)]
        found.append((taken, distributed.cardinality(), goes_on))
    return {"without rows": found}


def trials_of_shuffling(strategy: Any) -> Trials:
    from replax.data import Dataset
    from replax.data.experimental import SHARD_HINT

    dataset = Dataset.range(16).shuffle(16).batch(4)
    shuffled = strategy.experimental_distribute_dataset(dataset)
    epochs = [steps(strategy, shuffled) for _ in range(2)]
    half = iter(shuffled)
    next(half)
    state = half.get_state()
    half.set_state(state)
    # With HINT a worker has positions of its own.
    hinted = Dataset.range(8).shard(SHARD_HINT, SHARD_HINT).batch(2)
    own = iter(strategy.experimental_distribute_dataset(with_policy(hinted, "HINT")))
    next(own)
    own.set_state(own.get_state())
    return {
        "shuffled": epochs,
        "state": state,
        "rest": steps(strategy, half),
        "own rest": steps(strategy, own),
        "refused": attempt(lambda: own.set_state(state)),
    }


def trials_of_warnings(strategy: Any) -> Trials:
    from replax.data import Dataset

    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logging.getLogger("replax").addHandler(handler)
    dataset = Dataset.range(4).batch(2)
    distributed = strategy.experimental_distribute_dataset(dataset)
    steps(strategy, distributed)
    steps(strategy, distributed)
    strategy.experimental_distribute_dataset(with_policy(dataset, "DATA"))
    return {"warnings": [line for line in lines if "DATA" in line]}


def trials_of_errors(strategy: Any) -> Trials:
    from replax.data import Dataset, TextLineDataset

    def split(dataset: Any) -> str:
        distribute = strategy.experimental_distribute_dataset
        return attempt(lambda: steps(strategy, distribute(dataset)))

    def whole(make: Callable[[int], Any]) -> str:
        distributed = strategy.distribute_datasets_from_function(
            lambda context: make(context.input_pipeline_id)
        )
        return attempt(lambda: steps(strategy, distributed))

    def failing(rank: int) -> Any:
        def fail(x: Any) -> Any:
            if rank and 2 in x:
                raise ZeroDivisionError("at two")
            return x

        return Dataset.range(8).batch(2).map(fail)

    rows = Dataset.from_tensor_slices
    zeros = [np.zeros(4, np.float32), np.zeros(4, np.int32)]
    rank = strategy.cluster_resolver.task_id
    return {
        "files": split(TextLineDataset(["only.txt"]).batch(2)),
        "length": split(Dataset.range(8 + 4 * rank).batch(4)),
        "dtype": whole(lambda rank: rows({"x": zeros[rank]}).batch(2)),
        "leaves": whole(lambda rank: rows({"xy"[rank]: zeros[0]}).batch(2)),
        "scalars": whole(lambda rank: Dataset.range(1 + rank)),
        "failing": whole(failing),
    }


def trials_of_going_apart(strategy: Any) -> Trials:
    distributed = strategy.distribute_datasets_from_function(uneven)
    is_second = strategy.cluster_resolver.task_id == 1
    left: list[Any] = []
    for _ in range(3):
        for x in distributed:
            left.append(lists(strategy, x))
            break
    # One worker leaves a loop that the other one goes on with.
    iterator = iter(distributed)
    next(iterator)
    alone = ""
    if is_second:
        alone = attempt(lambda: steps(strategy, iterator))
    else:
        iterator.close()
    # One worker goes through the dataset once more, and the other one is done.
    once_more = ""
    if is_second:
        once_more = attempt(lambda: steps(strategy, distributed))
    return {"left": left, "alone": alone, "once more": once_more}


@pytest.fixture(scope="module")
def found() -> ProcessesResult:
    return run_processes(2, trials)


def of(found: ProcessesResult, name: str) -> list[Any]:
    """What the workers found, by rank."""
    return [trial[name] for trial in found.values]


def test_tables(tmp_path: Path) -> None:
    for name, first in (("one.txt", 0), ("two.txt", 6)):
        lines = "".join(f"{i}\n" for i in range(first, first + 6))
        (tmp_path / name).write_text(lines)
    one, other = run_processes(2, the_guides_tables, str(tmp_path)).values
    assert one["FILE"] == ([[[0, 1]], [[2, 3]], [[4]], [[5]]], -2)
    assert other["FILE"] == ([[[6, 7]], [[8, 9]], [[10]], [[11]]], -2)
    assert one["DATA"] == ([[[0, 1]], [[4, 5]], [[8, 9]]], 3)
    assert other["DATA"] == ([[[2, 3]], [[6, 7]], [[10, 11]]], 3)
    assert one["OFF"] == ([[[i, i + 1]] for i in range(0, 12, 2)], 6)
    assert other["OFF"] == one["OFF"]


def test_uneven_workers_end_together(found: ProcessesResult) -> None:
    epoch = [2.0 * (i + 10 + i) for i in range(5)] + [10.0, 12.0]  # of both
    assert of(found, "uneven") == [[epoch] * 3] * 2
    assert of(found, "cardinality") == [-2, -2]


def test_what_is_said_does_not_pile_up(found: ProcessesResult) -> None:
    assert all(0 < count < 200 for count in of(found, "said"))


def test_a_worker_without_data_gets_empty_batches(found: ProcessesResult) -> None:
    one, other = of(found, "empty")
    assert one == [{"w": [[b"a", b"b"]], "n": [[0, 1]]}]
    assert other == [{"w": [[]], "n": [[]]}]


def test_steps_at_which_nobody_has_rows_are_left_out(found: ProcessesResult) -> None:
    once = [[[0, 1]], [[2, 3]], [[4]]]
    for rank, trial in enumerate(of(found, "without rows")):
        own = [[[rank, rank + 2]], [[rank + 4, rank + 6]], [[rank + 8]]]
        assert trial == [
            (once * 2, 6, True),
            (once * 2, -2, True),
            (once[:2], -2, True),
            (own * 2, -2, True),
        ]


def test_workers_shuffle_alike(found: ProcessesResult) -> None:
    epochs = zip(*of(found, "shuffled"), strict=True)
    orders = []
    for one, other in epochs:
        order = []
        for (mine,), (theirs,) in zip(one, other, strict=True):
            order += mine + theirs
        assert sorted(order) == list(range(16))
        orders.append(order)
    assert orders[0] != orders[1]


def test_positions_are_the_same_on_all_workers(found: ProcessesResult) -> None:
    one, other = of(found, "state")
    assert one == other
    assert one["position"] == 1
    assert [len(rest) for rest in of(found, "rest")] == [3, 3]


def test_positions_in_what_only_one_worker_reads(found: ProcessesResult) -> None:
    assert of(found, "own rest") == [
        [[[2]], [[4]], [[6]]],
        [[[3]], [[5]], [[7]]],
    ]
    for text in of(found, "refused"):
        assert text.startswith("InvalidArgumentError: the position was saved from")
        assert "each worker reads files or parts of its own" in text


def test_all_may_leave_a_loop(found: ProcessesResult) -> None:
    assert of(found, "left") == [[[[0.0, 0.0]]] * 3, [[[10.0, 10.0]]] * 3]


def test_falling_back_to_rows_is_said_once(found: ProcessesResult) -> None:
    for lines in of(found, "warnings"):
        (line,) = lines
        assert "range(4) is not read from files" in line


def test_errors_come_to_all_workers(found: ProcessesResult) -> None:
    for name, *words in [
        ("files", "InvalidArgumentError", "1 files for 2 workers", "DATA"),
        ("dtype", "InvalidArgumentError", "step 0", "['x']", "rank 0 has float32"),
        ("leaves", "InvalidArgumentError", "['x']", "rank 1 with", "['y']"),
        ("length", "InvalidArgumentError", "2 on rank 0, 3 on rank 1", "the same"),
        ("scalars", "ValueError", "rank 0 has no more elements", "call batch(n)"),
    ]:
        for text in of(found, name):
            for word in words:
                assert word in text, (name, text)


def test_an_error_of_one_worker_reaches_the_other(found: ProcessesResult) -> None:
    one, other = of(found, "failing")
    assert other.startswith("ZeroDivisionError: at two")
    assert one.startswith("UnavailableError: rank 1 could not make step 1")
    assert "ZeroDivisionError: at two" in one


def test_who_leaves_a_loop_releases_the_others(found: ProcessesResult) -> None:
    _, other = of(found, "alone")
    assert other.startswith("InvalidArgumentError: rank 0 has left iteration 4")
    assert "leave a loop at the same step" in other


def test_one_iteration_too_many_is_an_error(found: ProcessesResult) -> None:
    _, other = of(found, "once more")
    assert other == (
        "InvalidArgumentError: rank 1 has begun 5 iterations over a dataset, and "
        "rank 0 has begun 4; all workers have to iterate over it equally often"
    )
