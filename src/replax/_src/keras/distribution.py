"""What Keras calls a distribution: where it puts the variables that it makes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator, Sequence
from typing import Any, final

import keras

from replax._src.topology.topology import REPLICA_AXIS, Topology

__all__ = ["StrategyDistribution", "distributed", "undistributed"]


@final
class StrategyDistribution(keras.distribution.DataParallel):
    """Variables on all replicas of a strategy.

    Args:
      topology: The replicas.
    """

    def __init__(self, topology: Topology) -> None:
        mesh = keras.distribution.DeviceMesh(
            shape=(topology.num_replicas,),
            axis_names=[REPLICA_AXIS],
            devices=list(topology.devices),
        )
        super().__init__(device_mesh=mesh, auto_shard_dataset=False)
        self._topology = topology

    def get_variable_layout(self, variable: Any) -> Any:
        """On all replicas; with several processes Keras has a copy in each of them.

        Keras would compare the copies in a collective whenever it assigns one.
        """
        if self._topology.agreement is not None:
            return None
        return super().get_variable_layout(variable)

    def get_data_layout(self, data_shape: Sequence[int]) -> Any:
        """Split over the replicas if it divides, else whole on each of them."""
        axes: list[str | None] = [None] * len(data_shape)
        if data_shape and data_shape[0] % self._topology.num_replicas == 0:
            axes[0] = REPLICA_AXIS
        return keras.distribution.TensorLayout(axes, self.device_mesh)


@functools.cache
def _distribution_of(topology: Topology) -> StrategyDistribution:
    """The distribution over these replicas."""
    return StrategyDistribution(topology)


@contextlib.contextmanager
def distributed(topology: Topology) -> Generator[None]:
    """Makes Keras put variables on the replicas."""
    with _distribution_of(topology).scope():
        yield


@contextlib.contextmanager
def undistributed() -> Generator[None]:
    """Lets Keras's loops run as on one device.

    In a loop of Keras a distribution says only how batches are put on devices, and it
    says so once for all of them, so that the last one cannot be shorter. Batches come
    placed already, and variables have been made.
    """
    before = keras.distribution.distribution()
    keras.distribution.set_distribution(None)
    try:
        yield
    finally:
        keras.distribution.set_distribution(before)
