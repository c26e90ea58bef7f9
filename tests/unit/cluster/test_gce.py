"""Machines are found through Google's own client, at a server in place of the API."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from loopback_server import serving
from replax.distribute.cluster_resolver import GCEClusterResolver

GROUP = "/compute/v1/projects/p/zones/z/instanceGroups/g/listInstances"
MACHINES = "/compute/v1/projects/p/zones/z/instances/"
ADDRESSES = {"one": "10.0.0.9", "two": "10.0.0.3", "three": "10.0.0.5"}


def answer(method: str, path: str, query: dict[str, str]) -> Any:
    """A group of three machines, listed two at a time."""
    if (method, path) == ("POST", GROUP):
        names = ["three"] if query.get("pageToken") == "more" else ["one", "two"]
        items = [{"instance": f"https://x{MACHINES}{name}"} for name in names]
        more = {} if len(names) == 1 else {"nextPageToken": "more"}
        return {"items": items, **more}
    ip = ADDRESSES.get(path.removeprefix(MACHINES))
    return ip and {"networkInterfaces": [{"networkIP": ip}, {"networkIP": "10.9.9.9"}]}


@pytest.fixture
def service() -> Iterator[Any]:
    discovery = pytest.importorskip("googleapiclient.discovery")
    google = pytest.importorskip("google.auth.credentials")
    with serving(answer) as address:
        built = discovery.build(
            "compute",
            "v1",
            credentials=google.AnonymousCredentials(),
            client_options={"api_endpoint": f"http://{address}/compute/v1/"},
        )
        yield built
        built.close()


def test_the_machines_of_a_group(service: Any) -> None:
    r = GCEClusterResolver("p", "z", "g", 8470, task_id=1, service=service)
    assert r.cluster_spec().as_dict() == {
        "worker": ["10.0.0.3:8470", "10.0.0.5:8470", "10.0.0.9:8470"]
    }
    assert (r.task_type, r.task_id, r.rpc_layer) == ("worker", 1, "grpc")
    assert r.master() == "grpc://10.0.0.5:8470"
    assert r.master("worker", 2, rpc_layer="http") == "http://10.0.0.9:8470"
    assert r.process_group().process_id == 1
    r.task_id = 2
    assert r.process_group().process_id == 2


def test_the_job_of_the_machines_stays(service: Any) -> None:
    r = GCEClusterResolver("p", "z", "g", 1, task_type="ps", service=service)
    assert r.cluster_spec().jobs == ["ps"]
    with pytest.raises(
        RuntimeError, match=r"stays 'ps'; make a new one with task_type="
    ):
        r.task_type = "worker"


def test_a_group_without_machines(service: Any) -> None:
    with serving(lambda *_: {}) as address:
        service._baseUrl = f"http://{address}/compute/v1/"
        r = GCEClusterResolver("p", "z", "g", 1, service=service)
        assert r.cluster_spec().as_dict() == {"worker": {}}


def test_without_a_service_googles_own_is_asked() -> None:
    google = pytest.importorskip("google.auth.credentials")
    pytest.importorskip("googleapiclient")
    credentials = google.AnonymousCredentials()
    r = GCEClusterResolver("p", "z", "g", 1, credentials=credentials)
    assert r._service._baseUrl == "https://compute.googleapis.com/compute/v1/"
    r._service.close()


def test_without_the_client_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "googleapiclient", None)
    with pytest.raises(ImportError, match=r"pip install 'replax\[gce\]'"):
        GCEClusterResolver("p", "z", "g", 1)
