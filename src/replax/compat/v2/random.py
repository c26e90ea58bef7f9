"""Random arrays."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.draws import (
    normal,
    set_seed,
    shuffle,
    stateless_normal,
    stateless_uniform,
    truncated_normal,
    uniform,
)
from replax._src.core.loading import loaded_later as _loaded_later

__all__ = [
    "normal",
    "set_seed",
    "shuffle",
    "stateless_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
