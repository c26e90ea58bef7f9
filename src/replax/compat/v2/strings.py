"""Functions of strings."""

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
