"""What training needs besides strategies."""

from typing import TYPE_CHECKING

from replax._src.cluster.spec import ClusterSpec
from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.core.loading import loaded_later as _loaded_later
from replax.train import Checkpoint, latest_checkpoint

if TYPE_CHECKING:
    from replax._src.compat.example_messages import (
        BytesList,
        Example,
        Feature,
        Features,
        FloatList,
        Int64List,
    )

__all__ = [
    "BytesList",
    "Checkpoint",
    "ClusterSpec",
    "Example",
    "Feature",
    "Features",
    "FloatList",
    "Int64List",
    "latest_checkpoint",
]


def __getattr__(name: str) -> object:
    messages = "replax._src.compat.example_messages"
    homes = dict.fromkeys(
        ["BytesList", "Example", "Feature", "Features", "FloatList", "Int64List"],
        messages,
    )
    return _loaded_later(__name__, name, homes, _advice)
