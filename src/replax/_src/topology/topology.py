"""The frozen answer to "which replicas are there, and which of them are mine?"."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
from collections.abc import Sequence

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from replax._src.cluster.agreement import Agreement
from replax._src.cluster.phases import Meeting, Phase, Step
from replax._src.core import jax_compat
from replax._src.core.errors import InvalidArgumentError
from replax._src.topology.wiring import Wiring

__all__ = ["REPLICA_AXIS", "Topology"]

# The mesh axis along which replicas lie; `jax.lax` collectives may name it too.
REPLICA_AXIS = "replica"

_ALONE = contextlib.nullcontext()


@dataclasses.dataclass(frozen=True)
class Topology:
    """The replicas of a strategy: their devices, mesh and shardings.

    Made once with the strategy and handed down; nothing below a strategy asks the
    process who it is.

    Attributes:
      devices: One device a replica, in the order of replica ids.
      process_index: Which process this is.
      agreement: How the processes agree on what they do; None if there is one only.
      wiring: How replicas of several processes are brought together.
    """

    devices: tuple[jax.Device, ...]
    process_index: int = 0
    agreement: Agreement | None = dataclasses.field(
        default=None, compare=False, repr=False
    )
    wiring: Wiring | None = None

    @classmethod
    def of_local_devices(cls, devices: Sequence[jax.Device]) -> Topology:
        """A topology of this process's own devices."""
        return cls(tuple(devices), devices[0].process_index)

    @classmethod
    def of_processes(cls, agreement: Agreement, bytes_per_pack: int = 0) -> Topology:
        """A topology of the devices of all processes, one process after the other."""
        rank = agreement.coordination.rank
        by_process: dict[int, list[jax.Device]] = collections.defaultdict(list)
        for device in jax.devices():
            by_process[device.process_index].append(device)
        counts = {i: len(by_process[i]) for i in sorted(by_process)}
        if len(set(counts.values())) > 1:
            seen = ", ".join(f"rank {i} has {n}" for i, n in counts.items())
            msg = (
                f"the workers have different numbers of devices: {seen}; give each "
                f"worker as many as the others, for example with "
                f"replax.config.set_logical_device_configuration or "
                f"CUDA_VISIBLE_DEVICES"
            )
            raise InvalidArgumentError(msg)
        devices = tuple(
            device
            for process in counts
            for device in sorted(by_process[process], key=lambda d: d.id)
        )
        is_cpu = devices[0].platform == "cpu"
        wiring = Wiring(len(counts), bytes_per_pack, is_composed=is_cpu)
        return cls(devices, rank, agreement, wiring)

    @classmethod
    def of_default_device(cls) -> Topology:
        """One replica, on the device where JAX puts things by itself."""
        chosen = jax_compat.setting("jax_default_device")
        return _of_device(
            chosen if isinstance(chosen, jax.Device) else jax.local_devices()[0]
        )

    def step(self) -> contextlib.AbstractContextManager[None]:
        """What steps of all processes are run in, so that all see how far each is."""
        return _ALONE if self.agreement is None else Step(self.agreement.watchdog)

    def phase(self, name: str) -> contextlib.AbstractContextManager[None]:
        """What else takes its time is done in, such as ``"input"``."""
        if self.agreement is None:
            return _ALONE
        return Phase(self.agreement.watchdog, name)

    def meeting(self) -> contextlib.AbstractContextManager[None]:
        """What other operations of all processes are done in."""
        return _ALONE if self.agreement is None else Meeting(self.agreement.watchdog)

    @functools.cached_property
    def num_replicas(self) -> int:
        """How many replicas train together."""
        return len(self.devices)

    @functools.cached_property
    def local_replicas(self) -> tuple[int, ...]:
        """Ids of the replicas that live in this process."""
        return tuple(
            i
            for i, device in enumerate(self.devices)
            if device.process_index == self.process_index
        )

    @functools.cached_property
    def local_devices(self) -> tuple[jax.Device, ...]:
        """Devices of the local replicas."""
        return tuple(self.devices[i] for i in self.local_replicas)

    @functools.cached_property
    def is_single(self) -> bool:
        """Whether there is one replica, so that nothing is ever split."""
        return self.num_replicas == 1

    @functools.cached_property
    def is_only_local(self) -> bool:
        """Whether this process has one of the replicas, and others have the others."""
        return len(self.local_replicas) == 1 and not self.is_single

    @functools.cached_property
    def is_cpu(self) -> bool:
        """Whether the replicas are CPU devices, whose programs must be counted."""
        return self.devices[0].platform == "cpu"

    @functools.cached_property
    def mesh(self) -> Mesh:
        """The mesh over the replicas."""
        return Mesh(np.array(self.devices), (REPLICA_AXIS,))

    @functools.cached_property
    def replicated(self) -> NamedSharding | SingleDeviceSharding:
        """Sharding of a value that every replica has whole."""
        if self.is_single:
            return SingleDeviceSharding(self.devices[0])
        return NamedSharding(self.mesh, PartitionSpec())

    @functools.cached_property
    def stacked(self) -> NamedSharding | SingleDeviceSharding:
        """Sharding of per-replica values stacked on a leading axis."""
        if self.is_single:
            return SingleDeviceSharding(self.devices[0])
        return NamedSharding(self.mesh, PartitionSpec(REPLICA_AXIS))


@functools.cache
def _of_device(device: jax.Device) -> Topology:
    return Topology.of_local_devices([device])
