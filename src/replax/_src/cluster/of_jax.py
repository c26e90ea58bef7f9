"""Clusters that JAX's own detectors know how to ask."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from typing import Any

from replax._src.cluster.addresses import PORT
from replax._src.cluster.group import Group
from replax._src.cluster.launched import check_coordinator
from replax._src.cluster.resolver import ClusterResolver, address_of_master
from replax._src.cluster.spec import ClusterSpec
from replax._src.core import jax_compat
from replax._src.core.errors import UnavailableError

__all__ = ["JaxClusterResolver", "group_of_detector"]

# How long a detector may wait for the coordinator's name to be known, in seconds.
_TIMEOUT = 300


class JaxClusterResolver(ClusterResolver):
    """Workers as one of JAX's detectors counts them; it is asked once, when needed.

    The detectors read the variables of this process.

    Args:
      detector: Its name in ``jax_compat.cluster_detector``.
      task_id: Which worker this process is.
      workers_here: How many there are on its machine, if known.
      source: The variable that has the coordinator, for errors.
    """

    def __init__(
        self,
        detector: str,
        task_id: int,
        *,
        workers_here: int | None = None,
        source: str = "",
    ) -> None:
        self._detector = detector
        self._workers_here = workers_here
        self._variable = source
        self._task_type = "worker"
        self._task_id = task_id
        self._group: Group | None = None

    def process_group(self) -> Group:
        """The processes that train together, as the detector says."""
        if self._group is None:
            group = group_of_detector(self._detector)
            check_coordinator(
                group.coordinator_address or "",
                group.num_processes,
                self._workers_here,
                self._variable,
            )
            self._group = dataclasses.replace(group, processes_here=self._workers_here)
        return self._group

    def cluster_spec(self) -> ClusterSpec:
        """The workers whose addresses are known: the first."""
        address = self.process_group().coordinator_address
        return ClusterSpec({"worker": {0: address}} if address else {})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of worker 0, which is the one that is known."""
        spec = self.cluster_spec()
        if not spec:
            return ""
        address = spec.task_address(task_type or "worker", task_id or 0)
        return address_of_master(address, rpc_layer or self._rpc_layer)


def group_of_detector(name: str, task_type: str = "worker") -> Group:
    """The group that one of JAX's detectors describes.

    Args:
      name: The detector's name in ``jax_compat.cluster_detector``.
      task_type: What the job of the processes is called.

    Raises:
      UnavailableError: It could not find out.
      ImportError: A client that it needs is not installed.
    """
    detector: Any = jax_compat.cluster_detector(name)
    if name == "Kubernetes" and importlib.util.find_spec("kubernetes") is None:
        msg = (
            "this pod is one of an indexed Job, and to find the others the Kubernetes "
            "client is needed, which is not installed; run "
            "pip install 'replax[kubernetes]', or describe the cluster with TF_CONFIG"
        )
        raise ImportError(msg)
    try:
        if name == "Kubernetes":
            detector.is_env_present()  # This sets its client up.
        size, index = detector.get_process_count(), detector.get_process_id()
        if size <= 1:
            return Group.by_itself(task_type, index)
        coordinator = detector.get_coordinator_address(
            timeout_secs=_TIMEOUT, override_coordinator_port=os.environ.get(PORT)
        )
        local_index = detector.get_local_process_id()
    except Exception as error:
        msg = (
            f"JAX cannot find out about the {name} cluster of this process: "
            f"{type(error).__name__}: {error}; describe it with TF_CONFIG, or pass "
            f"cluster_resolver"
        )
        raise UnavailableError(msg) from error
    return Group(
        coordinator, size, index, task_type, index, local_index, (coordinator,)
    )
