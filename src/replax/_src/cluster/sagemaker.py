"""SageMaker: the hosts of a training job."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, cast

from replax._src.cluster.resolver import ClusterResolver, address_of_master
from replax._src.cluster.spec import ClusterSpec

__all__ = ["SageMakerClusterResolver"]

_HOSTS = "SM_HOSTS"
_CURRENT = "SM_CURRENT_HOST"


class SageMakerClusterResolver(ClusterResolver):
    """The hosts of a SageMaker training job, all of them workers.

    Args:
      port: The port that each of them uses.
      task_type: The job of this process, if it is no worker.
      task_id: Its index in that job, if it is not that of its host.
      rpc_layer: The protocol that ``master`` puts before addresses.
      environment: What ``environment`` gives.
      environ: The variables to read; those of this process if left out.

    >>> from replax.distribute.cluster_resolver import SageMakerClusterResolver
    >>> job = {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": "algo-2"}
    >>> resolver = SageMakerClusterResolver(environ=job)
    >>> resolver.cluster_spec(), resolver.task_id
    (ClusterSpec({'worker': ['algo-1:2223', 'algo-2:2223']}), 1)
    """

    def __init__(
        self,
        port: int = 2223,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._port = port
        self._task_type = task_type
        self._task_id = task_id
        self._rpc_layer = rpc_layer
        self._environment = environment

    def cluster_spec(self) -> ClusterSpec:
        """The hosts by name, all of them workers."""
        hosts = self._hosts()
        workers = [f"{host}:{self._port}" for host in hosts]
        return ClusterSpec({"worker": workers} if hosts else {})

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, this one unless said; empty if it is the only one."""
        if len(self._hosts()) <= 1:
            return ""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        address = self.cluster_spec().task_address(job or "worker", index or 0)
        return address_of_master(
            address, self._rpc_layer if rpc_layer is None else rpc_layer
        )

    @property
    def task_type(self) -> str | None:
        """The job of this process; None if SageMaker names no hosts."""
        if self._task_type is not None:
            return self._task_type
        return "worker" if self._hosts() else None

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process; None if SageMaker names no hosts."""
        if self._task_id is not None:
            return self._task_id
        hosts = self._hosts()
        return hosts.index(self._environ[_CURRENT]) if hosts else None

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> str | None:
        """What was given."""
        return self._environment

    def _source(self) -> str:
        return _HOSTS

    def _hosts(self) -> list[str]:
        for variable in (_HOSTS, _CURRENT):
            if variable not in self._environ:
                msg = (
                    f"{variable} is not set, so this is no SageMaker training job; "
                    f"leave the resolver out, or set {_HOSTS} and {_CURRENT}"
                )
                raise RuntimeError(msg)
        text, current = self._environ[_HOSTS], self._environ[_CURRENT]
        if not text:
            return []
        try:
            hosts: Any = json.loads(text)
        except json.JSONDecodeError:
            hosts = None
        if not isinstance(hosts, list) or not all(isinstance(h, str) for h in hosts):
            msg = (
                f"{_HOSTS} is {text!r}, and has to be a JSON list of names, such as "
                f'["algo-1", "algo-2"]'
            )
            raise ValueError(msg)
        names = sorted(cast("list[str]", hosts))
        if names and current not in names:
            msg = (
                f"{_CURRENT} is {current!r}, and {_HOSTS} is {text}; it has to be one "
                f"of them"
            )
            raise ValueError(msg)
        return names
