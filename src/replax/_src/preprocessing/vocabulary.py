"""Tables from tokens to numbers, and where vocabularies come from."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.core.errors import InvalidArgumentError, NotFoundError

__all__ = ["NumberTable", "StringTable", "lines_of", "require_distinct"]


class StringTable:
    """Numbers of strings.

    Args:
      numbers: They.
      default: The number of every other string.
    """

    def __init__(self, numbers: dict[bytes, int], default: int) -> None:
        self._numbers = numbers
        self._default = default

    def find(self, strings: Sequence[bytes]) -> np.ndarray:
        """The number of each string."""
        found = map(self._numbers.get, strings, itertools.repeat(self._default))
        return np.fromiter(found, np.int64, len(strings))


class NumberTable:
    """Numbers of whole numbers.

    Args:
      numbers: They.
      default: The number of every other whole number.
    """

    def __init__(self, numbers: dict[int, int], default: int) -> None:
        keys = np.array(list(numbers), np.int64)
        order = np.argsort(keys)
        self._keys = keys[order]
        self._values = np.array(list(numbers.values()), np.int64)[order]
        self._default = default

    def find(self, keys: Any) -> Any:
        """The number of each whole number of an array."""
        if isinstance(keys, jax.Array):
            return self._found_on_device(keys)
        return _found(np, keys, self._keys, self._values, self._default)

    def _found_on_device(self, keys: jax.Array) -> jax.Array:
        # A key that does not fit in their dtype is none of theirs.
        span = jnp.iinfo(keys.dtype)
        fits = (self._keys >= span.min) & (self._keys <= span.max)
        dtype = jax.dtypes.canonicalize_dtype(np.int64)
        return _found(
            jnp,
            keys,
            jnp.asarray(self._keys[fits].astype(keys.dtype)),
            jnp.asarray(self._values[fits].astype(dtype)),
            self._default,
        )


def _found(xp: Any, wanted: Any, keys: Any, values: Any, default: int) -> Any:
    if not len(keys):
        return xp.full(wanted.shape, default, values.dtype)
    places = xp.minimum(xp.searchsorted(keys, wanted), len(keys) - 1)
    return xp.where(keys[places] == wanted, values[places], default)


def lines_of(layer: str, path: Any) -> list[bytes]:
    """The lines of a vocabulary file, one token each.

    Args:
      layer: Whose vocabulary it is, for errors.
      path: The name of the file.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        msg = (
            f"there is no vocabulary file {str(path)!r} for {layer}; give a file that "
            f"every worker can read, with one token a line"
        )
        raise NotFoundError(msg) from None
    lines = content.replace(b"\r", b"").split(b"\n")
    if lines[-1] == b"":
        # What follows the last line's end.
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if not line:
            msg = (
                f"line {number} of the vocabulary file {str(path)!r} is empty, and "
                f"each line is a token; remove it"
            )
            raise InvalidArgumentError(msg)
    return lines


def require_distinct(layer: str, tokens: Sequence[Any]) -> None:
    """Refuses a vocabulary in which a token is twice, or which is empty."""
    if not tokens:
        msg = (
            f"the vocabulary given to {layer} is empty; give at least one token, or "
            f"let adapt() find them"
        )
        raise ValueError(msg)
    if len(set(tokens)) < len(tokens):
        twice = [token for token, count in Counter(tokens).items() if count > 1]
        shown = ", ".join(map(repr, twice[:5]))
        msg = (
            f"the vocabulary given to {layer} has some tokens more than once: {shown}; "
            f"give each once"
        )
        raise ValueError(msg)
