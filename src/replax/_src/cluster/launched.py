"""Processes that a launcher has numbered, such as torchrun."""

from __future__ import annotations

from replax._src.cluster.addresses import host_of, is_loopback
from replax._src.cluster.group import Group
from replax._src.cluster.resolver import ClusterResolver, address_of_master
from replax._src.cluster.spec import ClusterSpec

__all__ = ["LaunchedClusterResolver", "check_coordinator"]


class LaunchedClusterResolver(ClusterResolver):
    """Workers of which only the number is known, and the address of the first.

    Args:
      coordinator: The address of worker 0.
      num_workers: How many workers there are.
      task_id: Which of them this is.
      local_id: Which of those on its machine this is, if known.
      workers_here: How many there are on its machine, if known.
      source: The variable that has the coordinator's host, for errors.
    """

    def __init__(
        self,
        coordinator: str,
        num_workers: int,
        task_id: int,
        *,
        local_id: int | None = None,
        workers_here: int | None = None,
        source: str,
    ) -> None:
        self._coordinator = coordinator
        self._num_workers = num_workers
        self._local_id = local_id
        self._workers_here = workers_here
        self._variable = source
        self._task_type = "worker"
        self._task_id = task_id

    def cluster_spec(self) -> ClusterSpec:
        """The workers whose addresses are known: the first."""
        return ClusterSpec({"worker": {0: self._coordinator}})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of worker 0, which is the one that is known."""
        address = self.cluster_spec().task_address(task_type or "worker", task_id or 0)
        return address_of_master(address, rpc_layer or self._rpc_layer)

    def process_group(self) -> Group:
        """The processes that the launcher has started."""
        if self._num_workers <= 1:
            return Group.by_itself(self.task_type, self.task_id)
        check_coordinator(
            self._coordinator, self._num_workers, self._workers_here, self._variable
        )
        return Group(
            self._coordinator,
            self._num_workers,
            self.task_id or 0,
            self.task_type,
            self.task_id,
            self._local_id,
            (self._coordinator,),
            self._workers_here,
        )


def check_coordinator(address: str, size: int, here: int | None, source: str) -> None:
    """Refuses a coordinator that processes on other machines cannot reach.

    Args:
      address: Where it is.
      size: How many processes there are.
      here: How many of them run on this machine, if known.
      source: The variable that has its host, for the error.
    """
    host = host_of(address) or ""
    if is_loopback(host) and here is not None and here < size:
        msg = (
            f"{source} has {host!r}, which means another machine on each machine, and "
            f"{size - here} of the {size} processes run on others; let it have the "
            f"name or the IP address of the machine of process 0"
        )
        raise ValueError(msg)
