"""Cloud TPUs: the hosts of a slice."""

from __future__ import annotations

import os
from typing import Any

import jax

from replax._src.cluster.addresses import host_of
from replax._src.cluster.group import Group
from replax._src.cluster.of_jax import group_of_detector
from replax._src.cluster.resolver import ClusterResolver
from replax._src.cluster.spec import ClusterSpec
from replax._src.core import jax_compat

__all__ = ["TPUClusterResolver"]

HOSTNAMES = ("TPU_PROCESS_ADDRESSES", "TPU_WORKER_HOSTNAMES")

# Where the runtime of a TPU listens, unless its address says otherwise.
_PORT = 8471


class TPUClusterResolver(ClusterResolver):
    """The hosts of the TPU slice that this machine is part of.

    JAX runs on the machines that have the TPUs, one process on each, so the only TPU
    there is is the one here. A program for several hosts is started on all of them.

    Args:
      tpu: ``"local"``, empty or None for the TPU of this machine, or its name in the
        variable TPU_NAME.
      zone: Accepted for programs that give it.
      project: Accepted for programs that give it.
      job_name: What the job of the hosts is called.
      coordinator_name: The name of a job that has only the coordinator, to be in the
        cluster too.
      coordinator_address: The address of that coordinator.
      credentials: Accepted for programs that give it.
      service: Accepted for programs that give it.
      discovery_url: Accepted for programs that give it.

    >>> from replax.distribute.cluster_resolver import TPUClusterResolver
    >>> resolver = TPUClusterResolver(tpu="local")
    >>> resolver.task_type, resolver.master()
    ('worker', '')
    """

    def __init__(  # noqa: PLR0913, PLR0917 - TensorFlow's arguments
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        del zone, project, credentials, service, discovery_url
        here = os.environ.get("TPU_NAME")
        if tpu not in {None, "", "local", here}:
            msg = (
                f"TPUClusterResolver got tpu={tpu!r}, and JAX uses the TPUs of the "
                f"machine that it runs on; start the program on every host of that "
                f"TPU, and write tpu='local'"
            )
            raise ValueError(msg)
        self._task_type = job_name
        self._coordinator = (
            {coordinator_name: [coordinator_address]}
            if coordinator_name and coordinator_address
            else {}
        )
        self._group: Group | None = None

    @classmethod
    def connect(
        cls, tpu: str | None = None, zone: str | None = None, project: str | None = None
    ) -> TPUClusterResolver:
        """A resolver; JAX connects to the TPU by itself."""
        return cls(tpu, zone, project)

    def cluster_spec(self) -> ClusterSpec:
        """The hosts of the slice; empty if the TPU has one."""
        detector = _detector()
        hosts = jax_compat.tpu_hosts(detector) if detector else []
        if len(hosts) <= 1:
            return ClusterSpec(self._coordinator)
        addresses = [h if host_of(h) is not None else f"{h}:{_PORT}" for h in hosts]
        return ClusterSpec({self.get_job_name(): addresses, **self._coordinator})

    def process_group(self) -> Group:
        """The processes on the hosts, of all slices if there are several."""
        if self._group is None:
            detector = _detector()
            job = self.get_job_name()
            self._group = (
                group_of_detector(detector, job)
                if detector
                else Group.by_itself(job, 0)
            )
        return self._group

    @property
    def task_id(self) -> int | None:
        """Which of the processes this is; 0 if the TPU has one host."""
        return (
            self.process_group().process_id if self._task_id is None else self._task_id
        )

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """Empty, since the TPU is this machine's own; or the address of a task."""
        if task_type is None or task_id is None:
            return ""
        address = self.cluster_spec().task_address(task_type, task_id)
        return f"{rpc_layer or 'grpc'}://{address}"

    def get_master(self) -> str:
        """What ``master()`` gives."""
        return self.master()

    def get_job_name(self) -> str:
        """What the job of the hosts is called."""
        return self.task_type or "worker"

    def get_coordination_service_leader(self) -> str:
        """The task that runs the coordination service."""
        return f"/job:{self.get_job_name()}/task:0"

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: object = None,
    ) -> dict[str, int]:
        """How many TPU cores this host has."""
        del task_type, task_id, config_proto
        return {"TPU": sum(d.platform == "tpu" for d in jax.local_devices())}


def _detector() -> str | None:
    """Which of JAX's detectors knows the hosts; None if there is one host."""
    if any(variable in os.environ for variable in HOSTNAMES):
        return "GKE TPU"
    # On Compute Engine the metadata server knows them. Elsewhere there is none to ask.
    if jax_compat.on_tpu_machine() and "TPU_SKIP_MDS_QUERY" not in os.environ:
        return "GCE TPU"
    return None
