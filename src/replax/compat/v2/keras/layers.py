"""Keras's layers; those that prepare data are Replax's."""

from replax._src.keras.on_jax import attribute as _attribute
from replax._src.keras.on_jax import names as _names
from replax.keras.layers import (
    CategoryEncoding,
    Discretization,
    Hashing,
    IntegerLookup,
    Normalization,
    StringLookup,
)

__all__ = [
    "CategoryEncoding",
    "Discretization",
    "Hashing",
    "IntegerLookup",
    "Normalization",
    "StringLookup",
]


def __getattr__(name: str) -> object:
    return _attribute(__name__, name)


def __dir__() -> list[str]:
    return _names(__name__, __all__)
