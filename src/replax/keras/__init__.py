"""What goes with Keras; importing it imports no Keras."""

from typing import TYPE_CHECKING

from replax._src.core.loading import loaded_later as _loaded_later

if TYPE_CHECKING:
    from replax._src.keras.dataset_creator import DatasetCreator
    from replax.keras import layers

__all__ = ["DatasetCreator", "layers"]


def __getattr__(name: str) -> object:
    return _loaded_later(
        __name__,
        name,
        {"DatasetCreator": "replax._src.keras.dataset_creator", "layers": None},
    )
