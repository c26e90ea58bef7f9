"""Everything on one device that is named."""

from __future__ import annotations

from typing import Any

from replax._src.strategies.strategy import Strategy
from replax._src.topology import devices as device_names
from replax._src.topology.topology import Topology

__all__ = ["OneDeviceStrategy"]


class OneDeviceStrategy(Strategy):
    """Puts variables and steps on one device.

    Good for trying out a program before it is distributed.

    Args:
      device: The device, named like ``"/gpu:0"`` or ``"/cpu:1"``, or a ``jax.Device``.

    >>> import replax
    >>> strategy = replax.distribute.OneDeviceStrategy("/cpu:0")
    >>> total = 0
    >>> for i in range(10):
    ...     total += strategy.run(lambda x: x * 2, args=(i,))
    >>> total
    90
    """

    def __init__(self, device: Any) -> None:
        super().__init__(Topology.of_local_devices(device_names.resolve_all([device])))
