"""A pod of an indexed Job finds its group, through JAX's detector.

Kubernetes' clients find their credentials at a fixed place, so the pod is a process in
a mount namespace of its own; the API is a server on loopback with a certificate.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fresh_process import ROOT, SECONDS
from loopback_server import serving

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount"]

SETUP = """
set -e
mount -t tmpfs none /run
[ -L /var/run ] || mount -t tmpfs none /var/run
mkdir -p /var/run/secrets/kubernetes.io/serviceaccount
cp token ca.crt namespace /var/run/secrets/kubernetes.io/serviceaccount
mount --bind hosts /etc/hosts
exec "$@"
"""

PROGRAM = """
import os, sys
from replax._src.cluster.detect import detect
from replax.distribute.cluster_resolver import KubernetesClusterResolver

found = detect(os.environ)
print(found.how, found.resolver.task_id)
try:
    group = found.resolver.process_group()
    print(group.coordinator_address, group.num_processes, group.process_id)
    print(found.resolver.cluster_spec(), found.resolver.master())
    print(KubernetesClusterResolver({"worker": ["job-name=train"]}).cluster_spec())
except ConnectionError as error:
    print(error)
"""


def pod(index: int) -> dict[str, Any]:
    owner = {"kind": "Job", "name": "train", "controller": True, "uid": "1"}
    return {
        "metadata": {
            "name": f"train-{index}-x",
            "labels": {"job-name": "train"},
            "ownerReferences": [{"apiVersion": "batch/v1", **owner}],
        },
        "spec": {"containers": [], "subdomain": "peers"},
        "status": {"phase": "Running", "podIP": f"10.0.0.{index}", "hostIP": "1.2.3.4"},
    }


def api(parallelism: int) -> Callable[[str, str, dict[str, str]], Any]:
    pods = [pod(i) for i in range(parallelism)]
    job = {
        "metadata": {"name": "train", "labels": {}},
        "spec": {"parallelism": parallelism, "template": {"spec": {"containers": []}}},
    }

    def answer(method: str, path: str, query: dict[str, str]) -> Any:
        if path == "/apis/batch/v1/namespaces/team/jobs/train":
            return job
        if path not in {"/api/v1/pods", "/api/v1/namespaces/team/pods"}:
            return None
        ip = query.get("fieldSelector", "").removeprefix("status.podIP=")
        items = [p for p in pods if ip in {"", p["status"]["podIP"]}]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}

    return answer


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """A certificate for 127.0.0.1, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    files = str(tmp_path / "ca.crt"), str(tmp_path / "key")
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    subprocess.run(
        [*request, *names, "-out", files[0], "-keyout", files[1]],
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    return files


def in_pod(folder: Path, address: str) -> str:
    """What the program prints in the pod with the index 2."""
    folder.joinpath("token").write_text("secret")
    folder.joinpath("namespace").write_text("team")
    folder.joinpath("hosts").write_text("10.0.0.2 train-2-x\n10.0.0.0 train-0.peers\n")
    host, _, port = address.partition(":")
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", SETUP, "sh", sys.executable, "-c", PROGRAM],
        capture_output=True,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": str(ROOT / "tests"),
            "HOSTNAME": "train-2-x",
            "JOB_COMPLETION_INDEX": "2",
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": port,
        },
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _namespaces() -> None:
    program = shutil.which("unshare")
    tried = program and subprocess.run(
        [*UNSHARE, "mount", "-t", "tmpfs", "none", "/run"],
        check=False,
        capture_output=True,
        timeout=SECONDS,
    )
    if not tried or tried.returncode != 0:
        pytest.skip("needs mount namespaces, which this system does not give")


def test_a_pod_finds_its_group(tmp_path: Path, certificate: tuple[str, str]) -> None:
    with serving(api(3), certificate) as address:
        printed = in_pod(tmp_path, address)
    assert printed.splitlines() == [
        "Kubernetes 2",
        "train-0.peers:55527 3 2",
        "ClusterSpec({'worker': ['train-0.peers:55527']}) train-0.peers:55527",
        "ClusterSpec({'worker': ['10.0.0.0:8470', '10.0.0.1:8470', '10.0.0.2:8470']})",
    ]


def test_an_api_that_knows_nothing_is_an_error(
    tmp_path: Path, certificate: tuple[str, str]
) -> None:
    with serving(lambda *_: None, certificate) as address:
        printed = in_pod(tmp_path, address)
    assert "JAX cannot find out about the Kubernetes cluster" in printed
    assert "Kubernetes API Error: 404" in printed
    assert "describe it with TF_CONFIG, or pass cluster_resolver" in printed
