"""Functions of strings."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.strings import (
    as_string,
    bytes_split,
    join,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    split,
    strip,
    substr,
    to_number,
    upper,
)
from replax._src.core.loading import loaded_later as _loaded_later

__all__ = [
    "as_string",
    "bytes_split",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_number",
    "upper",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
