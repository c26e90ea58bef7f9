"""Training on several devices of one machine, all holding the same variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from replax._src.strategies.cross_device_ops import CrossDeviceOps
from replax._src.strategies.strategy import Strategy
from replax._src.topology import devices as device_names
from replax._src.topology.topology import Topology

__all__ = ["MirroredStrategy"]


class MirroredStrategy(Strategy):
    """Synchronous training on the devices of one machine.

    Each device is a replica with a copy of every variable; assignments keep the copies
    equal.

    Args:
      devices: The devices, named like ``"GPU:0"`` or ``"/cpu:1"``, or as
        ``jax.Device``s. By default all GPUs, or all CPU devices if there are none.
      cross_device_ops: A wish for how values are brought together; see
        :class:`CrossDeviceOps`.

    >>> import replax
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> strategy.num_replicas_in_sync
    2
    """

    def __init__(
        self,
        devices: Sequence[Any] | None = None,
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:
        if cross_device_ops is not None and not isinstance(
            cross_device_ops, CrossDeviceOps
        ):
            msg = (
                f"cross_device_ops is {cross_device_ops!r}; give a CrossDeviceOps such "
                f"as NcclAllReduce(), or nothing"
            )
            raise ValueError(msg)
        if isinstance(devices, int):
            msg = (
                f"devices is the number {devices}; name the devices, as in "
                f"[f'CPU:{{i}}' for i in range({devices})], or leave it out to use all"
            )
            raise TypeError(msg)
        if devices is None:
            chosen = device_names.default_devices()
        else:
            named = [devices] if isinstance(devices, str) else list(devices)
            if not named:
                msg = "devices is empty; name at least one, or leave it out to use all"
                raise ValueError(msg)
            chosen = device_names.resolve_all(named)
        super().__init__(Topology.of_local_devices(chosen))
