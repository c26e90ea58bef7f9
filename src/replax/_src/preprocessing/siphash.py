"""SipHash-2-4, which TensorFlow's salted hash buckets are made with.

J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF", 2012; for many
strings at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from replax._src.preprocessing.texts import Texts

__all__ = ["keyed_hash"]

_START = tuple(
    np.uint64(number)
    for number in (
        0x736F6D6570736575,
        0x646F72616E646F6D,
        0x6C7967656E657261,
        0x7465646279746573,
    )
)

State = tuple[Any, Any, Any, Any]


def _rotated(value: Any, shift: int) -> Any:
    return (value << np.uint64(shift)) | (value >> np.uint64(64 - shift))


def _mixed(state: State, rounds: int) -> State:
    v0, v1, v2, v3 = state
    for _ in range(rounds):
        v0, v2 = v0 + v1, v2 + v3
        v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
        v0, v2 = _rotated(v0, 32) + v3, v2 + v1
        v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
        v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


def keyed_hash(texts: Texts, longest: int, key: tuple[int, int]) -> Any:
    """The hash of each string, as ``uint64``.

    Args:
      texts: The strings.
      longest: How many bytes the longest of them has.
      key: Two numbers of 64 bits.
    """
    xp, length = texts.xp, texts.lengths
    zeros = length * np.uint64(0)
    first, second = (np.uint64(number % 2**64) for number in key)
    keys = (first, second, first, second)
    start = [zeros + (s ^ k) for s, k in zip(_START, keys, strict=True)]
    state: State = (start[0], start[1], start[2], start[3])
    last = length // np.uint64(8)
    with np.errstate(over="ignore"):
        for number in range(longest // 8 + 1):
            block = _block(texts, number, last)
            v0, v1, v2, v3 = state
            v0, v1, v2, v3 = _mixed((v0, v1, v2, v3 ^ block), 2)
            after = (v0 ^ block, v1, v2, v3)
            # Shorter strings have ended before, and keep what they have.
            goes = last >= np.uint64(number)
            state = (
                xp.where(goes, after[0], state[0]),
                xp.where(goes, after[1], state[1]),
                xp.where(goes, after[2], state[2]),
                xp.where(goes, after[3], state[3]),
            )
        v0, v1, v2, v3 = state
        v0, v1, v2, v3 = _mixed((v0, v1, v2 ^ np.uint64(0xFF), v3), 4)
    return v0 ^ v1 ^ v2 ^ v3


def _block(texts: Texts, number: int, last: Any) -> Any:
    """Eight bytes of each string; the last ones have the length behind them."""
    xp, length = texts.xp, texts.lengths
    eight = np.uint64(8)
    # What is behind the end of a string is of the next one, or of nobody.
    at = xp.minimum(xp.full_like(length, 8 * number), last * eight)
    word = texts.word(at)
    kept = (np.uint64(1) << (length % eight * eight)) - np.uint64(1)
    ended = (word & kept) | (length << np.uint64(56))
    return xp.where(last == np.uint64(number), ended, word)
