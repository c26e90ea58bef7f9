"""A cluster that several resolvers describe together."""

from __future__ import annotations

from typing import Any

from replax._src.cluster.resolver import ClusterResolver, address_of_master
from replax._src.cluster.spec import ClusterSpec

__all__ = ["UnionClusterResolver"]


class UnionClusterResolver(ClusterResolver):
    """The tasks of several resolvers; what else is asked, the first one answers.

    Lists of one job are put one after the other. If any of them is a dict from indices,
    all are, and no index may be there twice.

    Args:
      *args: The resolvers.
      task_type: The job of this process, if it is not what the first one says.
      task_id: Its index in that job, likewise.
      rpc_layer: The protocol that ``master`` puts before addresses, likewise.

    >>> from replax.distribute.cluster_resolver import ClusterSpec
    >>> from replax.distribute.cluster_resolver import SimpleClusterResolver
    >>> from replax.distribute.cluster_resolver import UnionClusterResolver
    >>> one = SimpleClusterResolver(ClusterSpec({"worker": ["one:2222"]}))
    >>> two = SimpleClusterResolver(ClusterSpec({"worker": ["two:2222"]}))
    >>> UnionClusterResolver(one, two).cluster_spec()
    ClusterSpec({'worker': ['one:2222', 'two:2222']})
    """

    def __init__(
        self,
        *args: ClusterResolver,
        rpc_layer: str | None = None,
        task_type: str | None = None,
        task_id: int | None = None,
        **kwargs: Any,
    ) -> None:
        if kwargs:
            msg = (
                f"UnionClusterResolver got {', '.join(map(repr, kwargs))}, and knows "
                f"rpc_layer, task_type and task_id; leave out the others"
            )
            raise ValueError(msg)
        if not args:
            msg = "UnionClusterResolver got no resolvers; give one or more"
            raise ValueError(msg)
        for given in args:
            if not isinstance(given, ClusterResolver):
                msg = (
                    f"UnionClusterResolver got {given!r}, a {type(given).__name__}, "
                    f"where it needs cluster resolvers; write "
                    f"UnionClusterResolver(resolver, ...)"
                )
                raise TypeError(msg)
        self._resolvers = args
        self._rpc_layer = rpc_layer
        self._task_type = task_type
        self._task_id = task_id

    def cluster_spec(self) -> ClusterSpec:
        """The tasks of all resolvers.

        Raises:
          KeyError: Two of them have the same index of the same job.
        """
        parts = [resolver.cluster_spec().as_dict() for resolver in self._resolvers]
        jobs = dict.fromkeys(job for part in parts for job in part)
        return ClusterSpec(
            {job: _joined(job, [p[job] for p in parts if job in p]) for job in jobs}
        )

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task; without one, what the first resolver says."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return address_of_master(address, rpc_layer or self._rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: object = None,
    ) -> dict[str, int]:
        """What the first resolver says."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

    @property
    def environment(self) -> str | None:
        """What the first resolver says."""
        return self._resolvers[0].environment

    @property
    def task_type(self) -> str | None:
        """The job of this process."""
        return self._task_type or self._resolvers[0].task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process in its job."""
        return self._resolvers[0].task_id if self._task_id is None else self._task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """The protocol that ``master`` puts before addresses."""
        return self._rpc_layer or self._resolvers[0].rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer


def _joined(
    job: str, parts: list[list[str] | dict[int, str]]
) -> list[str] | dict[int, str]:
    lists = [part for part in parts if isinstance(part, list)]
    if len(lists) == len(parts):
        return [address for part in lists for address in part]
    joined: dict[int, str] = {}
    for part in parts:
        numbered = dict(enumerate(part)) if isinstance(part, list) else part
        again = sorted(joined.keys() & numbered.keys())
        if again:
            msg = (
                f"two resolvers have the task {again[0]} of the job {job!r}, "
                f"{joined[again[0]]!r} and {numbered[again[0]]!r}; give each task to "
                f"one of them"
            )
            raise KeyError(msg)
        joined |= numbered
    return joined
