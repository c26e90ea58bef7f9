"""Training on the devices of several processes, all holding the same variables."""

from __future__ import annotations

import os
from typing import Any

from replax._src.cluster.bootstrap import join
from replax._src.cluster.detect import detect
from replax._src.cluster.group import Group
from replax._src.cluster.resolver import ClusterResolver
from replax._src.cluster.tf_config import TFConfigClusterResolver
from replax._src.replica.options import (
    CommunicationImplementation,
    CommunicationOptions,
)
from replax._src.strategies.strategy import Strategy
from replax._src.topology import devices as device_names
from replax._src.topology.topology import Topology

__all__ = ["ExperimentalMultiWorkerMirroredStrategy", "MultiWorkerMirroredStrategy"]


class MultiWorkerMirroredStrategy(Strategy):
    """Synchronous training on several workers, each with one or more devices.

    Each device of each worker is a replica with a copy of every variable; assignments
    keep all copies equal. All workers run the same program. The first use joins the
    workers, so it has to come before anything is computed.

    Without a cluster it trains on the devices of this process.

    Args:
      cluster_resolver: Who takes part. By default what the environment says:
        ``TF_CONFIG``, or the variables of a launcher.
      communication_options: Hints for how workers communicate.

    >>> import replax
    >>> strategy = replax.distribute.MultiWorkerMirroredStrategy()
    >>> with strategy.scope():
    ...     v = replax.Variable(1.0)
    >>> v.numpy()
    array(1., dtype=float32)
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        options = _checked_options(communication_options)
        resolver = _checked_resolver(cluster_resolver)
        group = Group.of_resolver(resolver)
        if group.is_local:
            topology = Topology.of_local_devices(device_names.default_devices())
        else:
            topology = _of_group(group, options)
        job = resolver.task_type or ("localhost" if group.is_local else "worker")
        number = group.process_id if resolver.task_id is None else resolver.task_id
        task = f"/job:{job}/replica:0/task:{number}"
        super().__init__(topology, cluster_resolver=resolver, task=task)


class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """The same by its older name, with the older name of an option.

    Args:
      communication: Which library is expected to move the bytes.
      cluster_resolver: Who takes part; see :class:`MultiWorkerMirroredStrategy`.

    >>> import replax
    >>> strategy = replax.distribute.experimental.MultiWorkerMirroredStrategy()
    >>> isinstance(strategy, replax.distribute.MultiWorkerMirroredStrategy)
    True
    """

    def __init__(
        self,
        communication: CommunicationImplementation | str = (
            CommunicationImplementation.AUTO
        ),
        cluster_resolver: ClusterResolver | None = None,
    ) -> None:
        options = CommunicationOptions(
            implementation=CommunicationImplementation(communication)
        )
        super().__init__(cluster_resolver, options)


def _checked_options(options: Any) -> CommunicationOptions:
    if options is None:
        return CommunicationOptions()
    if not isinstance(options, CommunicationOptions):
        msg = (
            f"communication_options is {options!r}; give a "
            f"replax.distribute.experimental.CommunicationOptions, or nothing"
        )
        raise TypeError(msg)
    return options


def _checked_resolver(resolver: Any) -> ClusterResolver:
    if resolver is None:
        found = detect(os.environ).resolver
        return TFConfigClusterResolver() if found is None else found
    if not isinstance(resolver, ClusterResolver):
        msg = (
            f"cluster_resolver is {resolver!r}; give a ClusterResolver such as "
            f"replax.distribute.cluster_resolver.TFConfigClusterResolver(), or nothing"
        )
        raise TypeError(msg)
    return resolver


def _of_group(group: Group, options: CommunicationOptions) -> Topology:
    agreement = join(group)
    if options.timeout_seconds is not None:
        agreement.timeout = options.timeout_seconds
        agreement.watchdog.timeout = options.timeout_seconds
    topology = Topology.of_processes(agreement, options.bytes_per_pack)
    if topology.is_cpu and options.implementation is CommunicationImplementation.NCCL:
        msg = (
            "the implementation is NCCL, which connects GPUs, and the workers have "
            "CPU devices; use CommunicationImplementation.AUTO"
        )
        raise ValueError(msg)
    return topology
