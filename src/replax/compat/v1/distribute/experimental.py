"""What may still change."""

from replax._src.compat.strategies import MultiWorkerMirroredStrategy
from replax.distribute.experimental import (
    CollectiveCommunication,
    CommunicationImplementation,
    CommunicationOptions,
    ValueContext,
)

__all__ = [
    "CollectiveCommunication",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerMirroredStrategy",
    "ValueContext",
]
