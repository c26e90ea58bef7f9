"""What every cluster resolver answers."""

from __future__ import annotations

import abc
from collections import Counter

import jax

from replax._src.cluster.group import Group
from replax._src.cluster.spec import ClusterSpec

__all__ = ["AddressedClusterResolver", "ClusterResolver", "address_of_master"]

_TYPES = {"gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}


class ClusterResolver(abc.ABC):
    """Who else runs, and which of them this process is.

    A class of your own has ``cluster_spec`` and ``master``; it sets ``task_type`` and
    ``task_id`` if it knows them.

    >>> from replax.distribute.cluster_resolver import ClusterResolver, ClusterSpec
    >>> class TwoWorkers(ClusterResolver):
    ...     def cluster_spec(self):
    ...         return ClusterSpec({"worker": ["one:2222", "two:2222"]})
    ...
    ...     def master(self, task_type=None, task_id=None, rpc_layer=None):
    ...         return ""
    >>> resolver = TwoWorkers()
    >>> resolver.task_type, resolver.task_id = "worker", 1
    >>> resolver.process_group().process_id
    1
    """

    _task_type: str | None = None
    _task_id: int | None = None
    _rpc_layer: str | None = None

    @abc.abstractmethod
    def cluster_spec(self) -> ClusterSpec:
        """The cluster as it is now."""

    @abc.abstractmethod
    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, with the protocol before it if there is one."""

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: object = None,
    ) -> dict[str, int]:
        """How many GPUs or TPUs a worker has: those of this process.

        This opens JAX's devices, so a strategy for several workers has to be made
        before.
        """
        del task_type, task_id, config_proto
        kinds = [device.platform for device in jax.local_devices()]
        return dict(Counter(_TYPES.get(k, k.upper()) for k in kinds if k != "cpu"))

    def process_group(self) -> Group:
        """The processes that train together, and which of them this one is."""
        return Group.of_spec(
            self.cluster_spec(), self.task_type, self.task_id, source=self._source()
        )

    def _source(self) -> str:
        """What the cluster is read from, for errors."""
        return type(self).__name__

    @property
    def environment(self) -> str | None:
        """Always empty, outside of Google."""
        return ""

    @property
    def task_type(self) -> str | None:
        """The job of this process, such as ``"worker"``; None if it is not known."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str | None) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The index of this process in its job; None if it is not known."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int | None) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str | None:
        """The protocol that ``master`` puts before addresses."""
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str | None) -> None:
        self._rpc_layer = rpc_layer


class AddressedClusterResolver(ClusterResolver):
    """A resolver whose ``cluster_spec`` has the address of every task."""

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:
        """The address of a task, this one unless said; empty if that is not known."""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        if job is None or index is None:
            return ""
        address = self.cluster_spec().task_address(job, index)
        return address_of_master(address, rpc_layer or self._rpc_layer)


def address_of_master(address: str, rpc_layer: str | None) -> str:
    """An address with the protocol before it, if there is one."""
    return f"{rpc_layer}://{address}" if rpc_layer else address
