"""TF_CONFIG is read as TensorFlow reads it; what is wrong in it is found and named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from replax._src.cluster.detect import detect
from replax.distribute.cluster_resolver import TFConfigClusterResolver

CLUSTER = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
TASK = {"type": "worker", "index": 1}


def resolver(config: Any, **given: Any) -> TFConfigClusterResolver:
    text = config if isinstance(config, str) else json.dumps(config)
    return TFConfigClusterResolver(**given, environ={"TF_CONFIG": text})


def test_it_reads_cluster_task_and_protocol() -> None:
    r = resolver({"cluster": CLUSTER, "task": TASK, "rpc_layer": "grpc"})
    assert r.cluster_spec().as_dict() == CLUSTER
    assert (r.task_type, r.task_id, r.rpc_layer) == ("worker", 1, "grpc")
    assert r.environment is None
    assert r.master() == "grpc://b:2"
    assert r.master("ps", 0) == "grpc://c:3"
    assert r.master("ps", 0, rpc_layer="") == "c:3"
    assert r.process_group().process_id == 1


def test_it_reads_the_variable_when_it_is_asked(monkeypatch: Any) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    r = TFConfigClusterResolver()
    assert not r.cluster_spec()
    assert (r.task_type, r.task_id, r.master()) == (None, None, "")
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER, "task": TASK}))
    assert (r.task_type, r.task_id, r.master()) == ("worker", 1, "b:2")


def test_arguments_come_before_the_variable() -> None:
    config = {"cluster": CLUSTER, "task": TASK}
    r = resolver(config, task_type="ps", task_id=0, rpc_layer="g", environment="e")
    assert (r.task_type, r.task_id, r.rpc_layer, r.environment) == ("ps", 0, "g", "e")
    r.task_type, r.task_id, r.rpc_layer = "worker", 0, "h"
    assert r.master() == "h://a:1"


def test_the_only_task_has_no_master_to_connect_to() -> None:
    assert resolver({"cluster": {"worker": ["a:1"]}}).master() == ""
    assert resolver({"session_master": "x:1", "cluster": CLUSTER}).master() == "x:1"


@pytest.mark.parametrize("index", [1, "1", " 1 ", 1.0], ids=repr)
def test_an_index_may_be_written_in_other_ways(index: Any) -> None:
    r = resolver({"cluster": CLUSTER, "task": {"type": "worker", "index": index}})
    assert r.task_id == 1


def test_tasks_may_be_a_dict() -> None:
    r = resolver({"cluster": {"worker": {"1": "b:2", "0": "a:1"}}, "task": TASK})
    assert r.process_group().addresses == ("a:1", "b:2")


def test_nothing_is_no_cluster() -> None:
    for text in ("", "  ", "{}", '{"task": {"type": "worker", "index": 0}}'):
        assert resolver(text).process_group().is_local


def test_without_a_task_there_is_no_master() -> None:
    with pytest.raises(ValueError, match=r'TF_CONFIG .* add "task" to it, or name a'):
        resolver({"cluster": CLUSTER}).master()


def with_task(**task: Any) -> dict[str, Any]:
    return {"cluster": CLUSTER, "task": task}


MALFORMED = {
    "no JSON": ("{'cluster': 1}", "is not JSON near .*look like .*: line 1 column 2"),
    "cut off": ('{"cluster": {', "is not JSON near .*: line 1 column 14"),
    "a list": ("[]", r"TF_CONFIG: it is \[\], and has to be a JSON object"),
    "cluster is a list": (
        {"cluster": ["a:1"]},
        r'cluster is \["a:1"\], .* JSON object',
    ),
    "tasks are a string": (
        {"cluster": {"worker": "a:1"}},
        'cluster.worker is "a:1", and has to be a list of addresses',
    ),
    "an address is a number": (
        {"cluster": {"worker": ["a:1", 2]}},
        r"cluster.worker\[1\] is 2, and has to be a string",
    ),
    "an address is null": (
        {"cluster": {"worker": [None]}},
        r"cluster.worker\[0\] is null, and has to be a string",
    ),
    "a key is no number": (
        {"cluster": {"worker": {"x": "a:1"}}},
        'a key of cluster.worker is "x", and has to be a whole number',
    ),
    "task is a string": (
        {"cluster": CLUSTER, "task": "worker"},
        'task is "worker", and has to be a JSON object',
    ),
    "no task": ({"cluster": CLUSTER}, "task.type is missing, .* for example"),
    "no type": (with_task(index=0), "task.type is missing"),
    "no index": (with_task(type="worker"), "task.index is missing"),
    "type is a number": (with_task(type=1, index=0), "task.type is 1, .* be a string"),
    "index is a word": (
        with_task(type="worker", index="one"),
        'task.index is "one", and has to be a whole number',
    ),
    "index is negative": (
        with_task(type="worker", index=-1),
        "task.index is -1, and has to be a whole number, counted from 0",
    ),
    "index is a fraction": (with_task(type="worker", index=0.5), "task.index is 0.5"),
    "index is true": (with_task(type="worker", index=True), "task.index is true"),
    "index is too large": (
        with_task(type="worker", index=2),
        "task.index is 2, and cluster.worker has 2 tasks, with indices 0, 1; use one",
    ),
    "type is not in the cluster": (
        with_task(type="chief", index=0),
        "task.type is 'chief', and the jobs of the cluster are 'worker', 'ps'; use one",
    ),
    "an address without a port": (
        {"cluster": {"worker": ["a:1", "b"]}, "task": TASK},
        r"TF_CONFIG: cluster.worker\[1\] is 'b', which .* write host:port",
    ),
    "an address twice": (
        {"cluster": {"worker": ["a:1", "a:1"]}, "task": TASK},
        r"cluster.worker\[0\] and cluster.worker\[1\] are both 'a:1'",
    ),
    "loopback and another host": (
        {"cluster": {"worker": ["localhost:1", "b:2"]}, "task": TASK},
        r"cluster.worker\[0\] is 'localhost:1', .* machines of TF_CONFIG",
    ),
    "rpc_layer is a number": ({"rpc_layer": 1}, "rpc_layer is 1, .* be a string"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_wrong_is_found_and_named(what: str) -> None:
    config, says = MALFORMED[what]
    with pytest.raises((TypeError, ValueError), match=says) as caught:
        resolver(config).process_group()
    assert str(caught.value).startswith("TF_CONFIG")
    text = config if isinstance(config, str) else json.dumps(config)
    with pytest.raises((TypeError, ValueError), match=says):
        detect({"TF_CONFIG": text})
