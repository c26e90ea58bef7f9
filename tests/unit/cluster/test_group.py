"""The processes that train together, from a cluster and a task in it."""

from __future__ import annotations

from typing import Any

import pytest

from replax._src.cluster.group import Group
from replax.distribute.cluster_resolver import ClusterSpec, SimpleClusterResolver

FULL = {
    "worker": ["b:2", "c:3"],
    "ps": ["d:4"],
    "chief": ["a:1"],
    "evaluator": ["e:5"],
}


def group(cluster: Any, task_type: str | None = "worker", task_id: int | None = 0):
    resolver = SimpleClusterResolver(
        ClusterSpec(cluster), task_type=task_type, task_id=task_id
    )
    return Group.of_resolver(resolver)


@pytest.mark.parametrize(
    ("task", "process_id"), [(("chief", 0), 0), (("worker", 0), 1), (("worker", 1), 2)]
)
def test_the_chief_comes_before_the_workers(task: Any, process_id: int) -> None:
    assert group(FULL, *task) == Group(
        coordinator_address="a:1",
        num_processes=3,
        process_id=process_id,
        task_type=task[0],
        task_id=task[1],
        addresses=("a:1", "b:2", "c:3"),
    )


def test_without_a_chief_worker_0_is_first() -> None:
    found = group({"worker": ["b:2", "c:3"], "ps": ["d:4"]}, "worker", 1)
    assert (found.coordinator_address, found.process_id) == ("b:2", 1)
    assert not found.is_local


@pytest.mark.parametrize("task", [("evaluator", 0), ("ps", 0)])
def test_tasks_aside_are_by_themselves(task: Any) -> None:
    found = group(FULL, *task)
    assert found.is_local
    assert found == Group(None, 1, 0, *task)


def test_an_evaluator_need_not_be_in_the_cluster() -> None:
    assert group({"worker": ["a:1", "b:2"]}, "evaluator").is_local


@pytest.mark.parametrize(
    ("cluster", "task"),
    [
        ({}, (None, None)),
        ({"worker": ["a:1"]}, ("worker", 0)),
        ({"worker": ["a:1"]}, (None, None)),
        ({"chief": ["a:1"]}, ("chief", 0)),
        ({"worker": ["a:1"], "ps": ["b:2"]}, ("worker", 0)),
        # Nobody connects to the only worker, so its address may be anything.
        ({"worker": ["a"]}, ("worker", 0)),
    ],
)
def test_the_only_worker_is_by_itself(cluster: Any, task: Any) -> None:
    assert group(cluster, *task) == Group(None, 1, 0, *task)


@pytest.mark.parametrize(
    "workers",
    [
        ["localhost:1", "127.0.0.1:2"],
        ["127.0.0.1:1", "[::1]:2"],
        ["a:1", "localhost:2"],
        ["[2001:db8::1]:1", "[2001:db8::2]:1"],
    ],
)
def test_addresses_that_can_be_right(workers: list[str]) -> None:
    assert group({"worker": workers}).addresses == tuple(workers)


TWO = {"worker": ["a:1", "b:2"]}


@pytest.mark.parametrize(
    ("cluster", "task", "says"),
    [
        (TWO, (None, None), r"task.type is missing, .*several tasks \('worker'\); say"),
        (TWO, ("worker", None), "task.index is missing"),
        (TWO, ("chief", 0), "task.type is 'chief', and the jobs .* are 'worker'; use"),
        (TWO, ("boss", 0), "task.type is 'boss', which has no role .*; use 'chief'"),
        (
            TWO,
            ("worker", 2),
            "index is 2, and cluster.worker has 2 tasks, .* 0, 1; use",
        ),
        (TWO, ("worker", -1), "index is -1"),
        ({"worker": {1: "b:2"}}, ("worker", 1), r"the tasks 1 and lacks 0; workers"),
        ({"worker": {0: "a:1", 2: "b:2"}}, ("worker", 0), "tasks 0, 2 and lacks 1"),
        ({"chief": ["a:1", "b:2"]}, ("chief", 0), "2 tasks, and .* one chief; make"),
        (
            {"master": ["a:1"], **TWO},
            ("worker", 0),
            "job 'master', .*; call it 'chief'",
        ),
        (
            {"worker": ["a:1", "b"]},
            ("worker", 0),
            r"worker\[1\] is 'b', which has no port; write host:port, such as b:2222",
        ),
        (
            {"worker": ["a:1", "b:"]},
            ("worker", 0),
            r"'b:', which is not host:port; write",
        ),
        ({"worker": ["a:1", "b:x"]}, ("worker", 0), r"'b:x', which is not host:port"),
        ({"worker": ["a:1", ""]}, ("worker", 0), r"worker\[1\] is ''"),
        ({"worker": ["grpc://a:1", "b:2"]}, ("worker", 0), r"'grpc://a:1', which"),
        ({"worker": ["a:0", "b:2"]}, ("worker", 0), r"'a:0', and 0 is no port; choose"),
        ({"worker": ["a:65536", "b:2"]}, ("worker", 0), "65536 is no port"),
        (
            {"worker": ["a:1", "b:2", "a:1"]},
            ("worker", 0),
            r"worker\[0\] and cluster.worker\[2\] are both 'a:1', .* different ports",
        ),
        (
            {"chief": ["b:2"], "worker": ["a:1", "b:2"]},
            ("worker", 0),
            r"chief\[0\] and cluster.worker\[1\] are both 'b:2'",
        ),
        (
            {"worker": ["localhost:1", "b:2"]},
            ("worker", 1),
            r"'localhost:1', which means another machine .* 'b' has to reach it; write",
        ),
        ({"worker": ["127.0.1.1:1", "b:2"]}, ("worker", 1), "'127.0.1.1:1', which"),
        ({"worker": ["[::1]:1", "b:2"]}, ("worker", 1), r"'\[::1\]:1', which means"),
    ],
)
def test_what_cannot_be_right_is_named(cluster: Any, task: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        group(cluster, *task)
    assert str(caught.value).startswith("SimpleClusterResolver: ")
