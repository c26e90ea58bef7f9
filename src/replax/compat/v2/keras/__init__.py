"""Keras 3 on JAX in TensorFlow's names, with layers that need no TensorFlow."""

from replax._src.keras.on_jax import attribute as _attribute
from replax._src.keras.on_jax import names as _names
from replax.compat.v2.keras import layers, utils

__all__ = ["layers", "utils"]


def __getattr__(name: str) -> object:
    return _attribute(__name__, name)


def __dir__() -> list[str]:
    return _names(__name__, __all__)
