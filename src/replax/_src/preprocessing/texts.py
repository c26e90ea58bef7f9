"""The bytes of many strings at once, for hash functions to read."""

from __future__ import annotations

import abc
from typing import Any

import jax.numpy as jnp
import numpy as np

__all__ = ["LONGEST_NUMBER", "Digits", "Texts", "Written"]

# The longest whole number of 64 bits is "-9223372036854775808".
LONGEST_NUMBER = 20

# So many bytes behind the last string may be read, and are zero.
_MARGIN = 64


class Texts(abc.ABC):
    """Strings, each of which can be read at a place of its own.

    Attributes:
      xp: The module whose arrays these are: NumPy, or ``jax.numpy``.
      lengths: How many bytes each string has, as ``uint64``.
    """

    xp: Any
    lengths: Any

    @abc.abstractmethod
    def word(self, offset: Any, size: int = 8) -> Any:
        """The little-endian numbers of ``size`` bytes at the offsets, as ``uint64``.

        Args:
          offset: The place in each string.
          size: 1, 4 or 8. What lies behind a string may be part of the number.
        """


class Written(Texts):
    """Strings of the host."""

    xp = np

    def __init__(self, joined: bytes, starts: np.ndarray, lengths: np.ndarray) -> None:
        self._joined = joined
        self._starts = starts
        self.lengths = lengths

    @classmethod
    def of(cls, strings: list[bytes]) -> Written:
        """The strings of a list."""
        lengths = np.fromiter(map(len, strings), np.uint64, len(strings))
        ends = np.cumsum(lengths)
        return cls(b"".join([*strings, bytes(_MARGIN)]), ends - lengths, lengths)

    def chosen(self, positions: np.ndarray) -> Written:
        """Some of them."""
        return Written(self._joined, self._starts[positions], self.lengths[positions])

    def word(self, offset: Any, size: int = 8) -> np.ndarray:
        count = len(self._joined) - size + 1
        # One number begins at every byte, so that reading many is one indexing.
        words = np.ndarray((count,), f"<u{size}", self._joined, strides=(1,))
        return words[self._starts + np.asarray(offset).astype(np.uint64)].astype(
            np.uint64
        )


class Digits(Texts):
    """Whole numbers in decimal, on JAX's devices; read with 64-bit values on.

    Args:
      numbers: An array of integers with one axis.
    """

    xp = jnp

    def __init__(self, numbers: Any) -> None:
        negative = numbers < 0
        # The smallest number has no positive counterpart among signed ones.
        rest = jnp.where(negative, -numbers, numbers).astype(jnp.uint64)
        found: list[Any] = []
        count = jnp.ones(numbers.shape, jnp.uint64)
        for place in range(LONGEST_NUMBER):
            found.append((rest % np.uint64(10)).astype(jnp.uint8) + np.uint8(ord("0")))
            rest = rest // np.uint64(10)
            count = count + jnp.where(rest > 0, np.uint64(1), np.uint64(0))
            del place
        self.lengths = count + negative.astype(jnp.uint64)
        # The digits were found from the last one, and are to be read from the first.
        backwards = jnp.stack(found, axis=1)
        places = jnp.arange(LONGEST_NUMBER + _MARGIN)
        from_end = self.lengths.astype(jnp.int32)[:, None] - 1 - places[None, :]
        text = jnp.take_along_axis(
            backwards, jnp.clip(from_end, 0, LONGEST_NUMBER - 1), axis=1
        )
        text = jnp.where(from_end < 0, np.uint8(0), text)
        minus = negative[:, None] & (places[None, :] == 0)
        self._text = jnp.where(minus, np.uint8(ord("-")), text)

    def word(self, offset: Any, size: int = 8) -> Any:
        start = jnp.broadcast_to(
            jnp.asarray(offset).astype(jnp.int32), self.lengths.shape
        )
        value = jnp.zeros(self.lengths.shape, jnp.uint64)
        for place in range(size):
            byte = jnp.take_along_axis(self._text, (start + place)[:, None], axis=1)
            value = value | (byte[:, 0].astype(jnp.uint64) << np.uint64(8 * place))
        return value
