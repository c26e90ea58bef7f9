"""The hosts of a TPU, by the variables or the metadata server that JAX's detectors ask.

There is no TPU here: what is tested is which hosts form a group.
"""

from __future__ import annotations

from typing import Any

import pytest

from fresh_process import run_python
from loopback_server import serving
from replax._src.cluster.group import Group
from replax.distribute.cluster_resolver import ClusterSpec, TPUClusterResolver

ONE_SLICE = {
    "TPU_WORKER_HOSTNAMES": "127.0.0.1,127.0.0.2,127.0.0.3",
    "TPU_WORKER_ID": "2",
    "MEGASCALE_COORDINATOR_ADDRESS": "",
    "MEGASCALE_NUM_SLICES": "",
    "MEGASCALE_SLICE_ID": "",
}


def setenv(monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)


def test_the_hosts_of_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    setenv(monkeypatch, ONE_SLICE)
    r = TPUClusterResolver()
    assert r.cluster_spec().as_dict() == {
        "worker": ["127.0.0.1:8471", "127.0.0.2:8471", "127.0.0.3:8471"]
    }
    assert r.process_group() == Group(
        coordinator_address="127.0.0.1:8482",
        num_processes=3,
        process_id=2,
        task_type="worker",
        task_id=2,
        addresses=("127.0.0.1:8482",),
    )
    assert (r.task_type, r.task_id, r.master()) == ("worker", 2, "")
    assert r.master("worker", 0) == "grpc://127.0.0.1:8471"
    r.task_id = 0
    assert r.task_id == 0


def test_several_slices_are_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    several = {
        "MEGASCALE_COORDINATOR_ADDRESS": "127.0.0.1:8080",
        "MEGASCALE_NUM_SLICES": "2",
        "MEGASCALE_SLICE_ID": "1",
        "JAX_COORDINATOR_PORT": "7777",
    }
    setenv(monkeypatch, {**ONE_SLICE, **several})
    group = TPUClusterResolver(job_name="tpu_worker").process_group()
    assert (group.num_processes, group.process_id) == (6, 5)
    assert group.coordinator_address == "127.0.0.1:7777"
    assert group.task_type == "tpu_worker"


def test_addresses_may_have_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    setenv(monkeypatch, {"TPU_PROCESS_ADDRESSES": "a:1,b:2", "TPU_WORKER_ID": "0"})
    r = TPUClusterResolver(coordinator_name="host", coordinator_address="c:3")
    assert r.cluster_spec() == ClusterSpec({"worker": ["a:1", "b:2"], "host": ["c:3"]})


def test_what_cannot_be_found_out_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    setenv(monkeypatch, ONE_SLICE)
    monkeypatch.delenv("TPU_WORKER_ID")
    with pytest.raises(
        ConnectionError, match=r"GKE TPU cluster .* describe it with TF_"
    ):
        TPUClusterResolver().process_group()


def test_without_a_tpu_there_is_one_host() -> None:
    r = TPUClusterResolver.connect(tpu="")
    assert not r.cluster_spec()
    assert r.process_group().is_local
    assert (r.task_id, r.get_master(), r.get_job_name()) == (0, "", "worker")
    assert r.get_coordination_service_leader() == "/job:worker/task:0"
    assert r.num_accelerators() == {"TPU": 0}


def test_only_the_tpu_of_this_machine_can_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(
        ValueError, match=r"got tpu='mine', .* every host .*tpu='local'"
    ):
        TPUClusterResolver("mine")
    monkeypatch.setenv("TPU_NAME", "mine")
    assert TPUClusterResolver("mine").task_type == "worker"


METADATA = {
    "agent-worker-number": "1",
    "worker-network-endpoints": "a:b:127.0.0.1,c:d:127.0.0.2",
    "tpu-env": "ACCELERATOR_TYPE: 'v4-16'\n",
}


def metadata(method: str, path: str, query: dict[str, str]) -> Any:
    return METADATA.get(path.removeprefix("/computeMetadata/v1/instance/attributes/"))


def test_on_compute_engine_the_metadata_server_is_asked() -> None:
    # JAX takes this machine for one with TPUs, and says that it has no such server.
    with serving(metadata) as address:
        printed = run_python(
            "-c",
            "import os\n"
            f"os.environ.update(JAX_FORCE_TPU_INIT='1', GCE_METADATA_IP='{address}')\n"
            "import jax\n"
            "del os.environ['TPU_SKIP_MDS_QUERY']\n"
            "from replax.distribute.cluster_resolver import TPUClusterResolver\n"
            "r = TPUClusterResolver('local')\n"
            "g = r.process_group()\n"
            "print(r.cluster_spec(), r.task_id)\n"
            "print(g.coordinator_address, g.num_processes, g.process_id)\n",
        )
    assert printed.splitlines() == [
        "ClusterSpec({'worker': ['127.0.0.1:8471', '127.0.0.2:8471']}) 1",
        "127.0.0.1:8482 2 1",
    ]
