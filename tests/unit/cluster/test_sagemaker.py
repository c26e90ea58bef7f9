"""The hosts of a SageMaker training job are workers."""

from __future__ import annotations

from typing import Any

import pytest

from replax.distribute.cluster_resolver import SageMakerClusterResolver

JOB = {"SM_HOSTS": '["algo-2", "algo-1"]', "SM_CURRENT_HOST": "algo-2"}


def sagemaker(environ: dict[str, str] | None = None, **given: Any):
    return SageMakerClusterResolver(**given, environ=environ or JOB)


def test_hosts_are_workers_in_the_order_of_their_names() -> None:
    r = sagemaker(port=70)
    assert r.cluster_spec().as_dict() == {"worker": ["algo-1:70", "algo-2:70"]}
    assert (r.task_type, r.task_id, r.environment) == ("worker", 1, None)
    assert (r.master(), r.master("worker", 0)) == ("algo-2:70", "algo-1:70")
    group = r.process_group()
    assert (group.coordinator_address, group.process_id) == ("algo-1:70", 1)


def test_arguments_come_before_the_variables() -> None:
    r = sagemaker(task_type="chief", task_id=3, rpc_layer="g", environment="e")
    assert (r.task_type, r.task_id, r.environment) == ("chief", 3, "e")
    r.task_type, r.task_id = "worker", 0
    assert r.master() == "g://algo-1:2223"
    assert r.master(rpc_layer="") == "algo-1:2223"


@pytest.mark.parametrize("hosts", ["", "[]"])
def test_a_job_without_hosts_is_no_cluster(hosts: str) -> None:
    r = sagemaker({"SM_HOSTS": hosts, "SM_CURRENT_HOST": ""})
    assert not r.cluster_spec()
    assert (r.task_type, r.task_id, r.master()) == (None, None, "")
    assert r.process_group().is_local


def test_the_only_host_has_no_master_to_connect_to() -> None:
    assert sagemaker({"SM_HOSTS": '["a"]', "SM_CURRENT_HOST": "a"}).master() == ""


@pytest.mark.parametrize("variable", JOB)
def test_a_missing_variable_is_named(variable: str) -> None:
    environ = {k: v for k, v in JOB.items() if k != variable}
    with pytest.raises(RuntimeError, match=f"{variable} is not set, .* no SageMaker"):
        sagemaker(environ).cluster_spec()


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (
            {"SM_HOSTS": "algo-1"},
            "SM_HOSTS is 'algo-1', .* JSON list of names, such as",
        ),
        ({"SM_HOSTS": "[1]"}, r"SM_HOSTS is '\[1\]', and has to be"),
        ({"SM_CURRENT_HOST": "x"}, "SM_CURRENT_HOST is 'x', and SM_HOSTS is .* one of"),
    ],
)
def test_a_variable_that_cannot_be_right_is_named(other: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        sagemaker({**JOB, **other}).cluster_spec()
