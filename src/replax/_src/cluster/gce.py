"""Google Compute Engine: the machines of an instance group."""

from __future__ import annotations

from typing import Any

from replax._src.cluster.resolver import AddressedClusterResolver
from replax._src.cluster.spec import ClusterSpec

__all__ = ["GCEClusterResolver"]


class GCEClusterResolver(AddressedClusterResolver):
    """The running machines of an instance group, as Compute Engine lists them.

    It is asked whenever the resolver is. All machines have one job, and which of them
    this one is, is for the program to say. Needs the extra ``replax[gce]``.

    Args:
      project: The project.
      zone: The zone of the instance group.
      instance_group: The instance group.
      port: The port that each machine uses.
      task_type: The job of the machines.
      task_id: Which of them this one is, in the order of their addresses.
      rpc_layer: The protocol that ``master`` puts before addresses.
      credentials: What to identify with; Google's default ones of this machine if left
        out.
      service: A Compute Engine service as ``googleapiclient.discovery.build`` makes it,
        set up by you.

    >>> from types import SimpleNamespace as Record
    >>> from replax.distribute.cluster_resolver import GCEClusterResolver
    >>> def answer(value):
    ...     return Record(execute=lambda: value)
    >>> group = Record(
    ...     listInstances=lambda **_: answer({"items": [{"instance": "zones/z/one"}]}),
    ...     listInstances_next=lambda **_: None,
    ... )
    >>> machine = {"networkInterfaces": [{"networkIP": "10.0.0.1"}]}
    >>> service = Record(
    ...     instanceGroups=lambda: group,
    ...     instances=lambda: Record(get=lambda **_: answer(machine)),
    ... )
    >>> GCEClusterResolver("p", "z", "g", 8470, service=service).cluster_spec()
    ClusterSpec({'worker': ['10.0.0.1:8470']})
    """

    def __init__(  # noqa: PLR0913, PLR0917 - TensorFlow's arguments
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str | None = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._where = {"project": project, "zone": zone}
        self._instance_group = instance_group
        self._port = port
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._service = service or _service(credentials)

    def cluster_spec(self) -> ClusterSpec:
        """The machines that run now, in the order of their addresses."""
        groups, addresses = self._service.instanceGroups(), list[str]()
        request = groups.listInstances(
            **self._where,
            instanceGroup=self._instance_group,
            body={"instanceState": "RUNNING"},
            orderBy="name",
        )
        while request is not None:
            listed = request.execute()
            addresses += [self._address(item) for item in listed.get("items", ())]
            request = groups.listInstances_next(
                previous_request=request, previous_response=listed
            )
        return ClusterSpec({self.task_type or "worker": sorted(addresses)})

    @property
    def task_type(self) -> str | None:
        """The job of the machines, which stays as it was given."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        msg = (
            f"the job of a GCEClusterResolver is that of all its machines, and stays "
            f"{self._task_type!r}; make a new one with task_type={task_type!r}"
        )
        raise RuntimeError(msg)

    def _address(self, item: dict[str, str]) -> str:
        name = item["instance"].rpartition("/")[2]
        machine = self._service.instances().get(**self._where, instance=name).execute()
        return f"{machine['networkInterfaces'][0]['networkIP']}:{self._port}"


def _service(credentials: Any) -> Any:
    """A client of Compute Engine."""
    try:
        from googleapiclient import discovery  # noqa: PLC0415 - large, and optional
    except ImportError as error:
        msg = (
            "GCEClusterResolver needs Google's API client, which is not installed; run "
            "pip install 'replax[gce]'"
        )
        raise ImportError(msg) from error
    # Without credentials the client finds the default ones.
    given = None if credentials == "default" else credentials
    return discovery.build("compute", "v1", credentials=given)
