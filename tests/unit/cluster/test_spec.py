"""A ClusterSpec keeps jobs, tasks and addresses."""

from __future__ import annotations

from typing import Any

import pytest

from replax.distribute.cluster_resolver import ClusterSpec

SPEC = ClusterSpec({"worker": ["a:1", "b:2"], "ps": {3: "d:4", 1: "c:3"}})


def test_what_it_was_made_of_comes_back() -> None:
    assert SPEC.as_dict() == {"worker": ["a:1", "b:2"], "ps": {1: "c:3", 3: "d:4"}}
    assert SPEC.jobs == ["worker", "ps"]
    assert SPEC.num_tasks("ps") == 2
    assert SPEC.task_indices("ps") == [1, 3]
    assert SPEC.job_tasks("ps") == [None, "c:3", None, "d:4"]
    assert SPEC.task_address("worker", 1) == "b:2"
    assert repr(SPEC) == (
        "ClusterSpec({'ps': {1: 'c:3', 3: 'd:4'}, 'worker': ['a:1', 'b:2']})"
    )


def test_a_dict_without_gaps_is_a_list() -> None:
    assert ClusterSpec({"worker": {"1": "b", "0": "a"}}).as_dict() == {
        "worker": ["a", "b"]
    }


def test_specs_with_the_same_tasks_are_equal() -> None:
    assert ClusterSpec(SPEC) == SPEC
    assert ClusterSpec({"worker": ("a",)}) == ClusterSpec({"worker": {0: "a"}})
    assert ClusterSpec({"worker": ["a"]}) == {"worker": {0: "a"}}
    assert ClusterSpec({"worker": ["a"]}) != ClusterSpec({"worker": ["b"]})
    assert ClusterSpec({"worker": ["a"]}) != 3


def test_it_does_not_follow_what_it_was_made_of() -> None:
    workers = ["a:1"]
    spec = ClusterSpec({"worker": workers})
    workers.append("b:2")
    spec.as_dict()["worker"] = []
    assert spec.as_dict() == {"worker": ["a:1"]}


def test_an_empty_one_is_false() -> None:
    assert not ClusterSpec({})
    assert ClusterSpec({"worker": []}).job_tasks("worker") == []
    assert SPEC


def test_what_is_not_there_is_named() -> None:
    for ask in (SPEC.num_tasks, SPEC.task_indices, SPEC.job_tasks):
        with pytest.raises(ValueError, match=r"no job 'chief' .* 'worker', 'ps'"):
            ask("chief")
    with pytest.raises(ValueError, match=r"no job 'chief'"):
        SPEC.task_address("chief", 0)
    with pytest.raises(ValueError, match=r"no task 0 .* 'ps'; its tasks are 1, 3"):
        SPEC.task_address("ps", 0)
    with pytest.raises(ValueError, match=r"its jobs are none"):
        ClusterSpec({}).num_tasks("worker")


@pytest.mark.parametrize(
    ("cluster", "says"),
    [
        (["a:1"], r"got \['a:1'\], a list, where it needs a dict .* ClusterSpec\("),
        ({1: ["a:1"]}, 'got the job 1, a int; jobs have names, such as "worker"'),
        ({"worker": "a:1"}, "'a:1' as the tasks of 'worker', a str; write a list"),
        ({"worker": 2}, "2 as the tasks of 'worker', a int; write a list"),
        ({"worker": [1]}, "got 1, a int, as the address of task 0 of 'worker'"),
    ],
)
def test_what_is_no_cluster_is_refused(cluster: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        ClusterSpec(cluster)
