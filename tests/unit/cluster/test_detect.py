"""Which cluster is detected in which environment, and why the others are not."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from replax._src.cluster.detect import detect
from replax._src.cluster.group import Group

TF_CONFIG = {
    "TF_CONFIG": json.dumps(
        {
            "cluster": {"worker": ["a:1", "b:2"]},
            "task": {"type": "worker", "index": 1},
        }
    )
}
TORCHRUN = {
    "MASTER_ADDR": "host0",
    "MASTER_PORT": "29500",
    "RANK": "3",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
}
SLURM = {
    "SLURM_JOB_ID": "123",
    "SLURM_PROCID": "2",
    "SLURM_LOCALID": "0",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_TASKS": "3",
    "SLURM_STEP_NODELIST": "n[09-10]",
    "SLURM_STEP_TASKS_PER_NODE": "2,1",
}
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
}
POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
JOB_POD = {**POD, "JOB_COMPLETION_INDEX": "1"}
TPU_POD = {"TPU_WORKER_HOSTNAMES": "t0,t1,t2", "TPU_WORKER_ID": "2"}


def without(environ: dict[str, str], *names: str) -> dict[str, str]:
    assert set(names) <= set(environ)
    return {k: v for k, v in environ.items() if k not in names}


DETECTED: dict[str, tuple[dict[str, str], str]] = {
    "TF_CONFIG": (TF_CONFIG, "TF_CONFIG"),
    "torchrun": (TORCHRUN, "torchrun"),
    "torchrun, one process": ({**TORCHRUN, "RANK": "0", "WORLD_SIZE": "1"}, "torchrun"),
    "other launchers with torch's variables": (
        without(TORCHRUN, "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
        "torchrun",
    ),
    "a Slurm step": (SLURM, "Slurm"),
    "a Slurm step of an older Slurm": (
        without(SLURM, "SLURM_LOCALID", "SLURM_STEP_ID"),
        "Slurm",
    ),
    "Open MPI 4": (OPEN_MPI, "Open MPI"),
    "Open MPI 5 with a coordinator": (
        {
            **without(OPEN_MPI, "OMPI_MCA_orte_hnp_uri"),
            "MASTER_ADDR": "host0",
            "MASTER_PORT": "29500",
        },
        "Open MPI",
    ),
    "a pod of an indexed Job": (JOB_POD, "Kubernetes"),
    "a host of a TPU pod": (TPU_POD, "TPU pod"),
    # Nested: what is inside decides.
    "TF_CONFIG in a Slurm step": (TF_CONFIG | SLURM, "TF_CONFIG"),
    "TF_CONFIG in a pod": (TF_CONFIG | JOB_POD, "TF_CONFIG"),
    "TF_CONFIG under torchrun": (TF_CONFIG | TORCHRUN, "TF_CONFIG"),
    "an empty TF_CONFIG in a Slurm step": ({"TF_CONFIG": "{}", **SLURM}, "Slurm"),
    "torchrun in a Slurm step": (TORCHRUN | SLURM, "torchrun"),
    "torchrun in a pod": (TORCHRUN | JOB_POD, "torchrun"),
    "mpirun in a Slurm step": (OPEN_MPI | SLURM, "Open MPI"),
    "mpirun in a pod": (OPEN_MPI | POD, "Open MPI"),
    "a Slurm step with torch's address and port": (
        {"MASTER_ADDR": "n09", "MASTER_PORT": "29500", "WORLD_SIZE": "3", **SLURM},
        "Slurm",
    ),
    "a TPU pod in Kubernetes": (TPU_POD | JOB_POD, "TPU pod"),
    "ssh into a Slurm node, then torchrun": (
        {"SLURM_JOB_ID": "123", **TORCHRUN},
        "torchrun",
    ),
}


@pytest.mark.parametrize("where", DETECTED)
def test_detected(where: str) -> None:
    environ, how = DETECTED[where]
    before = dict(environ)
    found = detect(environ)
    assert found.how == how
    assert found.resolver is not None
    assert found.resolver.task_type == "worker"
    assert found.variables
    assert found.variables.items() <= environ.items()
    assert {v.name for v in found.declined} | {how} == {
        v.name for v in detect({}).declined
    }
    assert environ == before


DECLINED: dict[str, tuple[dict[str, str], str, str]] = {
    "nothing": ({}, "TF_CONFIG", "TF_CONFIG is not set"),
    "a TF_CONFIG without a cluster": (
        {"TF_CONFIG": '{"task": {"type": "worker", "index": 0}}'},
        "TF_CONFIG",
        "names no cluster",
    ),
    "torch's variables without a rank": (
        without(TORCHRUN, "RANK"),
        "torchrun",
        "RANK is not set",
    ),
    "torch's variables without an address": (
        without(TORCHRUN, "MASTER_ADDR", "MASTER_PORT"),
        "torchrun",
        "MASTER_ADDR and MASTER_PORT are not set",
    ),
    "ssh into a Slurm node": (
        {"SLURM_JOB_ID": "123"},
        "Slurm",
        "SLURM_STEP_TASKS_PER_NODE are not set; this is no task of a step, which srun",
    ),
    "a script of sbatch without srun": (
        {
            "SLURM_JOB_ID": "123",
            "SLURM_PROCID": "0",
            "SLURM_LOCALID": "0",
            "SLURM_NTASKS": "8",
            "SLURM_NODELIST": "n[1-2]",
        },
        "Slurm",
        "SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE are not set",
    ),
    "an interactive shell of Slurm": (
        {"SLURM_PTY_PORT": "40000", **SLURM},
        "Slurm",
        "SLURM_PTY_PORT is set",
    ),
    "Open MPI with one process": (
        {**OPEN_MPI, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"},
        "Open MPI",
        "OMPI_COMM_WORLD_SIZE is 1",
    ),
    "Open MPI without a size": (
        without(OPEN_MPI, "OMPI_COMM_WORLD_SIZE"),
        "Open MPI",
        "OMPI_COMM_WORLD_SIZE is not set",
    ),
    "any pod": (POD, "Kubernetes", "JOB_COMPLETION_INDEX is not set; this pod is not"),
    "a TPU with one host": (
        {"TPU_WORKER_HOSTNAMES": "localhost", "TPU_WORKER_ID": "0"},
        "TPU pod",
        "TPU_WORKER_HOSTNAMES has one host",
    ),
    "a TPU pod without a number": (
        without(TPU_POD, "TPU_WORKER_ID"),
        "TPU pod",
        "TPU_WORKER_ID is not set",
    ),
}


@pytest.mark.parametrize("where", DECLINED)
def test_declined(where: str) -> None:
    environ, name, why = DECLINED[where]
    found = detect(environ)
    assert found.resolver is None
    assert found.how is None
    assert found.why == "the environment describes no cluster"
    said = {verdict.name: verdict.why for verdict in found.declined}
    assert why in said[name]
    assert list(said) == [
        "TF_CONFIG",
        "torchrun",
        "Slurm",
        "Open MPI",
        "Kubernetes",
        "TPU pod",
    ]


WRONG: dict[str, tuple[dict[str, str], str]] = {
    "RANK too large": ({**TORCHRUN, "RANK": "4"}, "RANK is 4, .* from 0 to 3"),
    "RANK a word": ({**TORCHRUN, "RANK": "x"}, "RANK is 'x', and has to be a number"),
    "RANK empty": ({**TORCHRUN, "RANK": ""}, "RANK is '', and has to be a number"),
    "WORLD_SIZE zero": (
        {**TORCHRUN, "WORLD_SIZE": "0"},
        "WORLD_SIZE is 0, .* 1 or more",
    ),
    "MASTER_PORT a word": ({**TORCHRUN, "MASTER_PORT": "x"}, "MASTER_PORT is 'x', and"),
    "MASTER_PORT zero": (
        {**TORCHRUN, "MASTER_PORT": "0"},
        "MASTER_PORT is 0, which is",
    ),
    "MASTER_ADDR empty": (
        {**TORCHRUN, "MASTER_ADDR": ""},
        "MASTER_ADDR is '', and has",
    ),
    "MASTER_ADDR a URL": (
        {**TORCHRUN, "MASTER_ADDR": "tcp://a"},
        "MASTER_ADDR is 'tcp://a', and has to be the name or the IP address",
    ),
    "loopback and two hosts": (
        {**TORCHRUN, "MASTER_ADDR": "127.0.0.1"},
        "MASTER_ADDR has '127.0.0.1', .* 2 of the 4 processes run on others; let it",
    ),
    "loopback and two hosts of Open MPI": (
        {
            **OPEN_MPI,
            "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
            "MASTER_ADDR": "localhost",
            "MASTER_PORT": "29500",
        },
        "MASTER_ADDR has 'localhost', .* 1 of the 2 processes",
    ),
    "Open MPI 5": (
        without(OPEN_MPI, "OMPI_MCA_orte_hnp_uri"),
        "SIZE is 2, and OMPI_MCA_orte_hnp_uri is not set, .* mpirun: -x MASTER_ADDR=<",
    ),
    "SLURM_PROCID too large": (
        {**SLURM, "SLURM_PROCID": "3"},
        "SLURM_PROCID is 3, and there are 3 processes",
    ),
    "SLURM_STEP_NODELIST open": (
        {**SLURM, "SLURM_STEP_NODELIST": "n[09-10"},
        r"SLURM_STEP_NODELIST is 'n\[09-10', and has to be a list",
    ),
    "SLURM_STEP_TASKS_PER_NODE for other nodes": (
        {**SLURM, "SLURM_STEP_TASKS_PER_NODE": "3"},
        "SLURM_STEP_TASKS_PER_NODE is '3', for 1 nodes, and SLURM_STEP_NODELIST is",
    ),
    "SLURM_STEP_NUM_TASKS more than there are": (
        {**SLURM, "SLURM_STEP_NUM_TASKS": "4"},
        "SLURM_STEP_NUM_TASKS has 4 tasks .* have 3; give jobs that have 3, or start",
    ),
    "JAX_COORDINATOR_PORT a word": (
        {**SLURM, "JAX_COORDINATOR_PORT": "x"},
        "JAX_COORDINATOR_PORT is 'x'",
    ),
    "OMPI_COMM_WORLD_RANK too large": (
        {**OPEN_MPI, "OMPI_COMM_WORLD_RANK": "2"},
        "OMPI_COMM_WORLD_RANK is 2, and there are 2 processes",
    ),
    "JOB_COMPLETION_INDEX a word": (
        {**JOB_POD, "JOB_COMPLETION_INDEX": "x"},
        "JOB_COMPLETION_INDEX is 'x'",
    ),
    "TPU_WORKER_ID too large": (
        {**TPU_POD, "TPU_WORKER_ID": "3"},
        "TPU_WORKER_ID is 3, and there are 3 processes",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_variable_that_cannot_be_right_is_named(what: str) -> None:
    environ, says = WRONG[what]
    with pytest.raises(ValueError, match=says):
        detect(environ)


def group(environ: dict[str, str]) -> Group:
    resolver = detect(environ).resolver
    assert resolver is not None
    return Group.of_resolver(resolver)


def test_the_group_of_torchrun() -> None:
    assert group(TORCHRUN) == Group(
        coordinator_address="host0:29500",
        num_processes=4,
        process_id=3,
        task_type="worker",
        task_id=3,
        local_process_id=1,
        addresses=("host0:29500",),
        processes_here=2,
    )
    assert group({**TORCHRUN, "RANK": "0", "WORLD_SIZE": "1"}).is_local


@pytest.mark.parametrize(
    ("other", "address"),
    [
        ({"TORCHELASTIC_USE_AGENT_STORE": "True"}, "host0:29501"),
        ({"TORCHELASTIC_USE_AGENT_STORE": "False"}, "host0:29500"),
        (
            {"TORCHELASTIC_USE_AGENT_STORE": "True", "MASTER_PORT": "65535"},
            "host0:65534",
        ),
        ({"JAX_COORDINATOR_PORT": "7777"}, "host0:7777"),
        ({"MASTER_ADDR": "2001:db8::1"}, "[2001:db8::1]:29500"),
        ({"MASTER_ADDR": "127.0.0.1", "LOCAL_WORLD_SIZE": "4"}, "127.0.0.1:29500"),
    ],
)
def test_the_coordinator_of_torchrun(other: Any, address: str) -> None:
    assert group({**TORCHRUN, **other}).coordinator_address == address


def test_the_group_of_a_slurm_step() -> None:
    found = group({**SLURM, "JAX_COORDINATOR_PORT": "7777"})
    assert found.addresses == ("n09:7777", "n09:7778", "n10:7777")
    assert (found.process_id, found.local_process_id) == (2, 0)


def test_steps_choose_ports_of_their_own() -> None:
    def port(**other: str) -> str | None:
        return group({**SLURM, **other}).coordinator_address

    assert port() == port(SLURM_PROCID="0") == "n09:61563"
    assert port() != port(SLURM_STEP_ID="1")
    assert port() != port(SLURM_JOB_ID="124")
    for job in ("1", "3839", "99999999999"):
        address = port(SLURM_JOB_ID=job, SLURM_STEP_ID="4294967290") or ""
        assert 61440 <= int(address.partition(":")[2]) < 65536 - 256


def test_what_launchers_tell_is_in_the_resolver() -> None:
    resolver = detect(TORCHRUN).resolver
    assert resolver is not None
    assert resolver.cluster_spec().as_dict() == {"worker": ["host0:29500"]}
    assert resolver.master() == "host0:29500"
    assert resolver.master(rpc_layer="grpc") == "grpc://host0:29500"
    assert (resolver.task_type, resolver.task_id) == ("worker", 3)


def test_the_result_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        detect({}).how = "me"  # pyright: ignore[reportAttributeAccessIssue]
