"""What may still change."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.strategies import MultiWorkerMirroredStrategy
from replax._src.core.loading import loaded_later as _loaded_later
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


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
