"""Resolvers that are told what to say, and unions of resolvers."""

from __future__ import annotations

from typing import Any

import pytest

from replax.distribute import cluster_resolver
from replax.distribute.cluster_resolver import (
    ClusterResolver,
    ClusterSpec,
    SimpleClusterResolver,
    UnionClusterResolver,
)


def simple(cluster: Any, **given: Any) -> SimpleClusterResolver:
    return SimpleClusterResolver(ClusterSpec(cluster), **given)


def test_a_master_that_was_given_stands_for_no_task() -> None:
    r = simple({"worker": ["a:1", "b:2"]}, master="m:3", rpc_layer="grpc")
    assert r.master() == "grpc://m:3"
    assert r.master("worker") == "grpc://m:3"
    assert r.master("worker", 1, rpc_layer="http") == "http://b:2"
    r.rpc_layer = None
    assert r.master() == "m:3"


def test_accelerators_are_those_that_were_given() -> None:
    assert simple({}).num_accelerators() == {}
    assert simple({}, num_accelerators={"GPU": 8}).num_accelerators("worker", 0) == {
        "GPU": 8
    }


def test_accelerators_of_this_process_are_no_cpus() -> None:
    assert cluster_resolver.TFConfigClusterResolver().num_accelerators() == {}


def test_a_master_is_a_string() -> None:
    with pytest.raises(TypeError, match=r"got 3, a int, as master, .*; leave it out"):
        simple({}, master=3)
    unwanted: Any = {"worker": []}
    with pytest.raises(TypeError, match=r"a dict, where it needs a ClusterSpec; write"):
        SimpleClusterResolver(unwanted)


def test_a_resolver_is_abstract() -> None:
    with pytest.raises(TypeError, match=r"abstract"):
        ClusterResolver()  # pyright: ignore[reportAbstractUsage]


def test_a_union_puts_lists_one_after_the_other() -> None:
    union = UnionClusterResolver(
        simple({"worker": ["a:1"], "ps": ["p:1"]}, task_type="worker", task_id=0),
        simple({"worker": ["b:2"]}, task_type="ps", task_id=5),
    )
    assert union.cluster_spec().as_dict() == {"worker": ["a:1", "b:2"], "ps": ["p:1"]}
    assert (union.task_type, union.task_id) == ("worker", 0)
    assert union.process_group().addresses == ("a:1", "b:2")


def test_a_union_with_a_dict_has_indices() -> None:
    union = UnionClusterResolver(
        simple({"worker": {1: "b:2"}}), simple({"worker": ["a:1"]})
    )
    assert union.cluster_spec().as_dict() == {"worker": ["a:1", "b:2"]}


def test_a_union_refuses_an_index_that_is_there_twice() -> None:
    union = UnionClusterResolver(
        simple({"worker": ["a:1"]}), simple({"worker": {0: "b:2", 5: "c:3"}})
    )
    with pytest.raises(KeyError, match=r"task 0 of the job 'worker', 'a:1' and 'b:2'"):
        union.cluster_spec()


def test_the_first_of_a_union_answers_the_rest() -> None:
    first = simple({"worker": ["a:1"]}, master="m:1", num_accelerators={"GPU": 1})
    union = UnionClusterResolver(first, simple({"worker": ["b:2"]}, rpc_layer="x"))
    assert union.num_accelerators() == {"GPU": 1}
    assert (union.environment, union.rpc_layer) == ("", None)
    assert (union.master(), union.master("worker", 1)) == ("m:1", "b:2")
    union.rpc_layer = "grpc"
    assert union.master("worker", 1) == "grpc://b:2"


def test_a_union_may_be_told_who_this_is() -> None:
    first = simple({"worker": ["a:1", "b:2"]}, task_type="worker", task_id=1)
    union = UnionClusterResolver(first, task_type="chief", task_id=0)
    assert (union.task_type, union.task_id) == ("chief", 0)
    union.task_type, union.task_id = None, None
    assert (union.task_type, union.task_id) == ("worker", 1)


def test_a_union_is_made_of_resolvers() -> None:
    unwanted: Any = "worker"
    with pytest.raises(ValueError, match=r"got no resolvers; give one or more"):
        UnionClusterResolver()
    with pytest.raises(TypeError, match=r"got 'worker', a str, where it needs cluster"):
        UnionClusterResolver(unwanted)
    with pytest.raises(ValueError, match=r"got 'port', and knows rpc_layer, task_type"):
        UnionClusterResolver(simple({}), port=1)
    assert cluster_resolver.UnionResolver is UnionClusterResolver
