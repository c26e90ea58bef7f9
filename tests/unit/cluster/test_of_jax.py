"""JAX's detectors are asked for what they know; what launchers started connects."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from fresh_process import ROOT, SECONDS
from replax._src.cluster.detect import detect
from replax._src.cluster.group import Group
from replax._src.cluster.of_jax import JaxClusterResolver

OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
}


def test_the_group_of_open_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OPEN_MPI.items():
        monkeypatch.setenv(name, value)
    resolver = detect(os.environ).resolver
    assert resolver is not None
    coordinator = f"10.96.0.1:{1531576320 // 4096 % 4096 + 61440}"
    assert Group.of_resolver(resolver) == Group(
        coordinator_address=coordinator,
        num_processes=2,
        process_id=1,
        task_type="worker",
        task_id=1,
        local_process_id=0,
        addresses=(coordinator,),
    )
    assert resolver.cluster_spec().as_dict() == {"worker": [coordinator]}
    assert resolver.master(rpc_layer="grpc") == f"grpc://{coordinator}"


def test_one_process_is_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**OPEN_MPI, "OMPI_COMM_WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    resolver = JaxClusterResolver("Open MPI", 0)
    assert resolver.process_group().is_local
    assert (resolver.cluster_spec().as_dict(), resolver.master()) == ({}, "")


def test_what_jax_cannot_find_out_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**OPEN_MPI, "OMPI_MCA_orte_hnp_uri": "1.0;udp://x"}.items():
        monkeypatch.setenv(name, value)
    resolver = detect(os.environ).resolver
    assert resolver is not None
    with pytest.raises(
        ConnectionError, match=r"Open MPI cluster .* IP address from Open"
    ):
        resolver.process_group()


def test_without_the_client_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pod = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "JOB_COMPLETION_INDEX": "0"}
    resolver = detect(pod).resolver
    assert resolver is not None
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ImportError, match=r"pip install 'replax\[kubernetes\]', or"):
        resolver.process_group()


# What each launcher sets for a process, in an environment that has nothing of others.
LAUNCHERS = {
    "torchrun": lambda rank, port: {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "RANK": rank,
        "WORLD_SIZE": "2",
        "LOCAL_RANK": rank,
        "LOCAL_WORLD_SIZE": "2",
    },
    "Slurm": lambda rank, port: {
        "SLURM_JOB_ID": "7",
        "SLURM_PROCID": rank,
        "SLURM_LOCALID": rank,
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_STEP_TASKS_PER_NODE": "2",
        "JAX_COORDINATOR_PORT": port,
    },
    "Open MPI": lambda rank, port: {
        "OMPI_COMM_WORLD_RANK": rank,
        "OMPI_COMM_WORLD_SIZE": "2",
        "OMPI_COMM_WORLD_LOCAL_RANK": rank,
        "OMPI_MCA_orte_hnp_uri": "4096.0;tcp://127.0.0.1:1",
        "JAX_COORDINATOR_PORT": port,
    },
}

PROGRAM = """
import os, jax
from replax._src.cluster.detect import detect
found = detect(os.environ)
group = found.resolver.process_group()
jax.distributed.initialize(
    group.coordinator_address, group.num_processes, group.process_id)
from replax._src.cluster.coordination import Coordination
group = Coordination.of_process()
group.put(f"seen/{group.rank}", found.how)
print(group.rank, group.get(f"seen/{1 - group.rank}", 200, "the other"))
group.barrier("end", 200)
"""


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_processes_find_each_other(launcher: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={
                **os.environ,
                "JAX_PLATFORMS": "cpu",
                "PYTHONPATH": str(ROOT / "tests"),
                **LAUNCHERS[launcher](rank, port),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in ("0", "1")
    ]
    try:
        printed = [process.communicate(timeout=SECONDS) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert [out for out, _ in printed] == [f"0 {launcher}\n", f"1 {launcher}\n"], (
        printed
    )
