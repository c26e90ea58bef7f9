"""A cluster that is described by the program itself."""

from __future__ import annotations

from collections.abc import Mapping

from replax._src.cluster.resolver import ClusterResolver, address_of_master
from replax._src.cluster.spec import ClusterSpec

__all__ = ["SimpleClusterResolver"]


class SimpleClusterResolver(ClusterResolver):
    """A resolver that gives back what it is given.

    Args:
      cluster_spec: The cluster.
      master: What ``master()`` gives when it is not asked for a task.
      task_type: The job of this process.
      task_id: Its index in that job.
      environment: What ``environment`` gives.
      num_accelerators: What ``num_accelerators()`` gives, such as ``{"GPU": 8}``.
      rpc_layer: The protocol that ``master`` puts before addresses.

    >>> from replax.distribute.cluster_resolver import ClusterSpec
    >>> from replax.distribute.cluster_resolver import SimpleClusterResolver
    >>> spec = ClusterSpec({"worker": ["one:2222", "two:2222"]})
    >>> resolver = SimpleClusterResolver(spec, task_type="worker", task_id=1)
    >>> resolver.master("worker", 0)
    'one:2222'
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: Mapping[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            msg = (
                f"SimpleClusterResolver got {cluster_spec!r}, a "
                f"{type(cluster_spec).__name__}, where it needs a ClusterSpec; write "
                f"SimpleClusterResolver(ClusterSpec(...))"
            )
            raise TypeError(msg)
        if not isinstance(master, str):
            msg = (
                f"SimpleClusterResolver got {master!r}, a {type(master).__name__}, as "
                f"master, which is a string; leave it out, or write an address"
            )
            raise TypeError(msg)
        self._spec = cluster_spec
        self._master = master
        self._task_type = task_type
        self._task_id = task_id
        self._environment = environment
        self._accelerators = dict(num_accelerators or {})
        self._rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The cluster that was given."""
        return self._spec

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, or without one the ``master`` that was given."""
        address = self._master
        if task_type is not None and task_id is not None:
            address = self._spec.task_address(task_type, task_id)
        return address_of_master(address, rpc_layer or self._rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: object = None,
    ) -> dict[str, int]:
        """What was given, whichever task is asked for."""
        del task_type, task_id, config_proto
        return dict(self._accelerators)

    @property
    def environment(self) -> str:
        """What was given."""
        return self._environment
