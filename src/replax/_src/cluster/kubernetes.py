"""Kubernetes: the pods that have some labels."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any

from replax._src.cluster.resolver import AddressedClusterResolver
from replax._src.cluster.spec import ClusterSpec

__all__ = ["KubernetesClusterResolver", "KubernetesExecutableLocation"]


class KubernetesExecutableLocation(enum.Enum):
    """Where a program that asks Kubernetes runs.

    >>> from replax.distribute.cluster_resolver import KubernetesExecutableLocation
    >>> KubernetesExecutableLocation.OFF_CLUSTER.value
    1
    """

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(AddressedClusterResolver):
    """The running pods that have some labels, as Kubernetes' API lists them.

    It is asked whenever the resolver is. It does not say which of the pods this process
    is, so set ``task_type`` and ``task_id``. Needs the extra ``replax[kubernetes]``.

    Args:
      job_to_label_mapping: For each job the label selectors of its pods; by default
        ``{"worker": ["job-name=tensorflow"]}``.
      tf_server_port: The port that each pod uses.
      rpc_layer: The protocol that ``master`` puts before addresses.
      override_client: A ``kubernetes.client.CoreV1Api`` to ask, set up by you.
      executable_location: Whether this process runs in a pod, with its service account,
        or elsewhere, with a kubeconfig file.
      namespace: Whose pods are listed; those of all namespaces if left out.

    >>> from types import SimpleNamespace as Record
    >>> from replax.distribute.cluster_resolver import KubernetesClusterResolver
    >>> pods = [
    ...     Record(
    ...         metadata=Record(name=f"worker-{i}"),
    ...         status=Record(phase="Running", pod_ip=f"10.0.0.{i}"),
    ...     )
    ...     for i in (1, 2)
    ... ]
    >>> client = Record(
    ...     list_pod_for_all_namespaces=lambda label_selector: Record(items=pods)
    ... )
    >>> KubernetesClusterResolver(override_client=client).cluster_spec()
    ClusterSpec({'worker': ['10.0.0.1:8470', '10.0.0.2:8470']})
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
        executable_location: KubernetesExecutableLocation = (
            KubernetesExecutableLocation.WITHIN_CLUSTER
        ),
        *,
        namespace: str | None = None,
    ) -> None:
        self._selectors = dict(
            job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        )
        self._port = tf_server_port
        self._rpc_layer = rpc_layer
        self._client = override_client or _client(executable_location)
        self._namespace = namespace

    def cluster_spec(self) -> ClusterSpec:
        """The pods that there are now, those of each selector by name.

        Raises:
          RuntimeError: One of them is not running.
        """
        return ClusterSpec(
            {
                job: [self._address(p) for s in selectors for p in self._pods(s)]
                for job, selectors in self._selectors.items()
            }
        )

    def _pods(self, selector: str) -> list[Any]:
        if self._namespace is None:
            listed = self._client.list_pod_for_all_namespaces(label_selector=selector)
        else:
            listed = self._client.list_namespaced_pod(
                self._namespace, label_selector=selector
            )
        return sorted(listed.items, key=_in_words_and_numbers)

    def _address(self, pod: Any) -> str:
        name, phase = pod.metadata.name, pod.status.phase
        if phase != "Running":
            msg = (
                f"the pod {name!r} is in the phase {phase!r}, and has no address that "
                f"others can use before it is 'Running'; wait for it, or choose labels "
                f"that leave it out"
            )
            raise RuntimeError(msg)
        pod_ip = getattr(pod.status, "pod_ip", None)
        # A pod on its host's network may be described by the host's address alone.
        host = pod_ip if isinstance(pod_ip, str) else pod.status.host_ip
        return f"[{host}]:{self._port}" if ":" in host else f"{host}:{self._port}"


def _in_words_and_numbers(pod: Any) -> list[tuple[bool, int, str]]:
    """A name as people order it: ``worker-2`` comes before ``worker-10``."""
    parts = re.findall(r"\d+|\D+", pod.metadata.name)
    return [(p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts]


def _client(location: KubernetesExecutableLocation) -> Any:
    """A client that is set up as the place where this program runs needs it."""
    if not isinstance(location, KubernetesExecutableLocation):
        msg = (
            f"KubernetesClusterResolver got executable_location={location!r}; give "
            f"KubernetesExecutableLocation.WITHIN_CLUSTER or OFF_CLUSTER"
        )
        raise ValueError(msg)  # noqa: TRY004 - as TensorFlow does
    try:
        from kubernetes import client, config  # noqa: PLC0415 - large, and optional
    except ImportError as error:
        msg = (
            "KubernetesClusterResolver needs the Kubernetes client, which is not "
            "installed; run pip install 'replax[kubernetes]'"
        )
        raise ImportError(msg) from error
    settings = client.Configuration()
    try:
        if location is KubernetesExecutableLocation.WITHIN_CLUSTER:
            config.load_incluster_config(client_configuration=settings)
        else:
            config.load_kube_config(client_configuration=settings)
    except config.ConfigException as error:
        msg = (
            f"KubernetesClusterResolver cannot ask Kubernetes: {error}; outside of a "
            f"pod give executable_location=KubernetesExecutableLocation.OFF_CLUSTER, "
            f"and point KUBECONFIG to your kubeconfig file"
        )
        raise RuntimeError(msg) from error
    return client.CoreV1Api(client.ApiClient(settings))
