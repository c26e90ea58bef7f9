"""What may still change."""

from replax._src.replica.options import (
    CommunicationImplementation,
    CommunicationOptions,
)
from replax._src.replica.options import (
    CommunicationImplementation as CollectiveCommunication,
)
from replax._src.strategies.multi_worker_mirrored import (
    ExperimentalMultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from replax._src.strategies.value_context import ValueContext

__all__ = [
    "CollectiveCommunication",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerMirroredStrategy",
    "ValueContext",
]
