"""What ``replax doctor`` says of processes that are well, and of those that are not."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from typing import Any

import pytest

from replax.testing import current_process, run_processes

# Those of clusters would be found.
_VARIABLES = {
    k: v
    for k, v in os.environ.items()
    if not re.match(r"TF_CONFIG|MASTER_|RANK|WORLD_|SLURM_|OMPI_|KUBERNETES_|TPU_", k)
}


def doctor(*options: str, **variables: str) -> tuple[int, str, str]:
    """The exit code, and what it prints."""
    program = "from replax._src.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "doctor", *options],
        capture_output=True,
        check=False,
        env={**_VARIABLES, "JAX_PLATFORMS": "cpu", **variables},
        text=True,
        timeout=240,
    )
    return done.returncode, done.stdout, done.stderr


def cluster(*addresses: str, index: int) -> str:
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": addresses}, "task": task})


def unused_address() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def test_alone_it_measures_the_local_devices() -> None:
    code, said, complaint = doctor(JAX_NUM_CPU_DEVICES="3")
    assert code == 0, complaint
    assert re.search(r"^versions: +replax \S+, jax \S+, jaxlib ", said)
    assert "\ncluster:     none: the environment describes no cluster\n" in said
    assert "not TF_CONFIG: TF_CONFIG is not set\n" in said
    assert "\nrole:        alone\ndevices:     3 x cpu on " in said
    timings = r"all-reduce:  4 B in \S+ ms, 64 KiB in \S+ ms, 4 MiB in \S+ ms\n"
    assert re.search(f"\n{timings}all is well\n$", said)


def test_processes_that_are_well_see_each_other() -> None:
    def run() -> Any:
        code, said, complaint = doctor("--timeout", "120", **dict(os.environ))
        return current_process().coordinator, code, said, complaint

    for rank, (address, code, said, complaint) in enumerate(
        run_processes(2, run, devices=2, timeout=240).values
    ):
        assert code == 0, complaint
        assert "\ncluster:     by TF_CONFIG: " in said
        assert "\n             TF_CONFIG={" in said
        assert f"\nrole:        worker {rank}, process {rank} of 2\n" in said
        where = "this process, at " if rank == 0 else ""
        assert f"\ncoordinator: {where}{address}" in said
        assert "\nprocess 0:   2 x cpu on " in said
        assert "\nprocess 1:   2 x cpu on " in said
        assert said.endswith("ms\nall is well\n")


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        (
            "127.0.0.1:9",
            r"127\.0\.0\.1:9 within 1 s .*refused.*: run replax doctor on process 0",
        ),
        (
            "no-such-host.invalid:99",
            r"no-such-host\.invalid:99 within 1 s .*the name is not known here: write",
        ),
    ],
)
def test_an_unreachable_coordinator_is_named(address: str, complaint: str) -> None:
    config = cluster(address, unused_address(), index=1)
    if address.startswith("no"):
        config = config.replace("127.0.0.1", "other.invalid")
    code, said, complained = doctor("--timeout", "1", TF_CONFIG=config)
    assert code == 1
    assert "\nrole:        worker 1, process 1 of 2\n" in said
    assert re.search(f"Error: process 0 cannot be reached at {complaint}", complained)
    assert "all is well" not in said


def test_process_0_says_that_others_did_not_come() -> None:
    first, second = unused_address(), unused_address()
    config = cluster(first, second, index=0)
    code, _, complaint = doctor("--timeout", "2", TF_CONFIG=config)
    assert code == 1
    assert f"not all 2 processes have come within 2 s ({second}); run" in complaint


def test_a_variable_that_cannot_be_right_is_quoted() -> None:
    config = cluster("somewhere", "elsewhere:1", index=0)
    code, _, complaint = doctor(TF_CONFIG=config)
    assert code == 1
    assert "a cluster wrongly: TF_CONFIG: cluster.worker[0] is 'somewhere'" in complaint


def test_devices_that_cannot_be_used_are_reported() -> None:
    code, said, complaint = doctor(JAX_PLATFORMS="nonsense")
    assert code == 1
    assert "the devices cannot be used:\n" in complaint
    assert "nonsense" in complaint
    assert "all is well" not in said
