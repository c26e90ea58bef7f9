"""What Keras has in ``keras.utils``, and functions that make datasets."""

from replax._src.keras.on_jax import attribute as _attribute
from replax._src.keras.on_jax import names as _names
from replax.compat.v2.keras.utils import experimental
from replax.keras import DatasetCreator

__all__ = ["DatasetCreator", "experimental"]


def __getattr__(name: str) -> object:
    return _attribute(__name__, name)


def __dir__() -> list[str]:
    return _names(__name__, __all__)
