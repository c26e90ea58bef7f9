"""What may still change."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.core.loading import loaded_later as _loaded_later
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


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
