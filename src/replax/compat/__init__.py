"""Replax under the names of TensorFlow: ``v1`` and ``v2``."""

from replax._src.core.loading import loaded_later as _loaded_later

__all__ = []


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {"v1": None, "v2": None})
