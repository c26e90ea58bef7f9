"""Pods are found through Kubernetes' own client, at a server in place of the API."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback_server import serving
from replax.distribute.cluster_resolver import (
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
)

OFF_CLUSTER = KubernetesExecutableLocation.OFF_CLUSTER


def pod(name: str, ip: str | None, phase: str = "Running", **labels: str) -> Any:
    return {
        "metadata": {"name": name, "namespace": "team", "labels": labels},
        "status": {"phase": phase, "podIP": ip, "hostIP": "192.168.0.9"},
    }


class Api:
    """The pods of a cluster, as its API lists them."""

    def __init__(self) -> None:
        self.pods = [
            pod("w-10", "10.0.0.10", job="w"),
            pod("w-2", "10.0.0.2", job="w"),
            pod("w-1", "10.0.0.1", job="w"),
            pod("p-0", "10.0.1.0", job="p"),
        ]
        self.asked: list[str] = []

    def __call__(self, method: str, path: str, query: dict[str, str]) -> Any:
        self.asked.append(path)
        if path not in {"/api/v1/pods", "/api/v1/namespaces/team/pods"}:
            return None
        key, _, value = query["labelSelector"].partition("=")
        found = [p for p in self.pods if p["metadata"]["labels"].get(key) == value]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": found}


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def kubeconfig(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """The file by which programs outside of a cluster find its API."""
    with serving(api) as address:
        file = tmp_path / "kubeconfig"
        file.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "here",
                    "contexts": [
                        {"name": "here", "context": {"cluster": "c", "user": "u"}}
                    ],
                    "clusters": [
                        {"name": "c", "cluster": {"server": f"http://{address}"}}
                    ],
                    "users": [{"name": "u", "user": {"token": "secret"}}],
                }
            )
        )
        config = pytest.importorskip("kubernetes").config.kube_config
        monkeypatch.setattr(config, "KUBE_CONFIG_DEFAULT_LOCATION", str(file))
        yield


@pytest.mark.usefixtures("kubeconfig")
def test_pods_are_found_by_their_labels() -> None:
    r = KubernetesClusterResolver(
        {"worker": ["job=w"], "ps": ["job=p"], "chief": []},
        executable_location=OFF_CLUSTER,
    )
    # People count 1, 2, 10.
    assert r.cluster_spec().as_dict() == {
        "worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.10:8470"],
        "ps": ["10.0.1.0:8470"],
        "chief": {},
    }
    assert (r.task_type, r.task_id, r.rpc_layer, r.master()) == (None, None, "grpc", "")
    assert r.master("worker", 1) == "grpc://10.0.0.2:8470"
    r.task_type, r.task_id = "worker", 2
    assert r.master() == "grpc://10.0.0.10:8470"
    group = r.process_group()
    assert (group.coordinator_address, group.process_id) == ("10.0.0.1:8470", 2)


@pytest.mark.usefixtures("kubeconfig")
def test_pods_are_listed_when_they_are_asked_for(api: Api) -> None:
    r = KubernetesClusterResolver(
        {"worker": ["job=w", "job=p"]}, 99, executable_location=OFF_CLUSTER
    )
    assert not api.asked
    assert r.cluster_spec().num_tasks("worker") == 4
    api.pods = api.pods[1:]
    assert r.cluster_spec().job_tasks("worker") == [
        "10.0.0.1:99",
        "10.0.0.2:99",
        "10.0.1.0:99",
    ]


@pytest.mark.usefixtures("kubeconfig")
def test_the_pods_of_one_namespace(api: Api) -> None:
    r = KubernetesClusterResolver(
        {"worker": ["job=p"]}, executable_location=OFF_CLUSTER, namespace="team"
    )
    assert r.cluster_spec().as_dict() == {"worker": ["10.0.1.0:8470"]}
    assert api.asked == ["/api/v1/namespaces/team/pods"]


@pytest.mark.usefixtures("kubeconfig")
def test_a_pod_that_does_not_run_is_named(api: Api) -> None:
    api.pods.append(pod("w-3", None, "Pending", job="w"))
    r = KubernetesClusterResolver(
        {"worker": ["job=w"]}, executable_location=OFF_CLUSTER
    )
    with pytest.raises(
        RuntimeError, match=r"pod 'w-3' is in the phase 'Pending', .*wait"
    ):
        r.cluster_spec()


@pytest.mark.usefixtures("kubeconfig")
def test_a_client_may_be_given(api: Api) -> None:
    kubernetes = pytest.importorskip("kubernetes")
    api.pods = [pod("a", "2001:db8::1", **{"job-name": "tensorflow"})]
    client = kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config())
    r = KubernetesClusterResolver(override_client=client)
    assert r.cluster_spec().as_dict() == {"worker": ["[2001:db8::1]:8470"]}


def test_outside_of_a_pod_the_error_says_what_to_give(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(
        RuntimeError, match=r"cannot ask Kubernetes: Service host.*OFF_CL"
    ):
        KubernetesClusterResolver()
    config = pytest.importorskip("kubernetes").config.kube_config
    missing = str(tmp_path / "missing")
    monkeypatch.setattr(config, "KUBE_CONFIG_DEFAULT_LOCATION", missing)
    with pytest.raises(RuntimeError, match=r"cannot ask Kubernetes: .*KUBECONFIG"):
        KubernetesClusterResolver(executable_location=OFF_CLUSTER)


def test_a_location_is_one_of_two() -> None:
    place: Any = "here"
    with pytest.raises(ValueError, match=r"got executable_location='here'; give Kuber"):
        KubernetesClusterResolver(executable_location=place)


def test_without_the_client_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(ImportError, match=r"pip install 'replax\[kubernetes\]'"):
        KubernetesClusterResolver()
