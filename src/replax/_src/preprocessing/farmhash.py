"""FarmHash's ``Fingerprint64``, which TensorFlow's hash buckets are made with.

It is the 64-bit hash of farmhashna.cc in https://github.com/google/farmhash, for many
strings at once. The names of the constants and of the parts are those found there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from replax._src.preprocessing.texts import Digits, Texts, Written

__all__ = ["fingerprint", "fingerprint_of_digits"]

K0 = np.uint64(0xC3A5C85C97CB3127)
K1 = np.uint64(0xB492B66FBE98F273)
K2 = np.uint64(0x9AE16A3B2F90404F)

_BLOCK = 64
_SEED = np.uint64(81)


def _u(number: int) -> np.uint64:
    return np.uint64(number)


def _rotated(value: Any, shift: int) -> Any:
    return (value >> _u(shift)) | (value << _u(64 - shift))


def _shift_mix(value: Any) -> Any:
    return value ^ (value >> _u(47))


def _hash_16(u: Any, v: Any, factor: Any) -> Any:
    a = (u ^ v) * factor
    a = a ^ (a >> _u(47))
    b = (v ^ a) * factor
    b = b ^ (b >> _u(47))
    return b * factor


def _up_to_3(texts: Texts) -> Any:
    length = texts.lengths
    a, b = texts.word(0, 1), texts.word(length >> _u(1), 1)
    c = texts.word(length - _u(1), 1)
    y = a + (b << _u(8))
    z = length + (c << _u(2))
    return _shift_mix((y * K2) ^ (z * K0)) * K2


def _up_to_7(texts: Texts) -> Any:
    length = texts.lengths
    factor = K2 + length * _u(2)
    a, b = texts.word(0, 4), texts.word(length - _u(4), 4)
    return _hash_16(length + (a << _u(3)), b, factor)


def _up_to_16(texts: Texts) -> Any:
    length = texts.lengths
    factor = K2 + length * _u(2)
    a = texts.word(0) + K2
    b = texts.word(length - _u(8))
    c = _rotated(b, 37) * factor + a
    d = (_rotated(a, 25) + b) * factor
    return _hash_16(c, d, factor)


def _up_to_32(texts: Texts) -> Any:
    length = texts.lengths
    factor = K2 + length * _u(2)
    a = texts.word(0) * K1
    b = texts.word(8)
    c = texts.word(length - _u(8)) * factor
    d = texts.word(length - _u(16)) * K2
    return _hash_16(
        _rotated(a + b, 43) + _rotated(c, 30) + d,
        a + _rotated(b + K2, 18) + c,
        factor,
    )


def _up_to_64(texts: Texts) -> Any:
    length = texts.lengths
    factor = K2 + length * _u(2)
    a = texts.word(0) * K2
    b = texts.word(8)
    c = texts.word(length - _u(8)) * factor
    d = texts.word(length - _u(16)) * K2
    y = _rotated(a + b, 43) + _rotated(c, 30) + d
    z = _hash_16(y, a + _rotated(b + K2, 18) + c, factor)
    e = texts.word(16) * factor
    f = texts.word(24)
    g = (y + texts.word(length - _u(32))) * factor
    h = (z + texts.word(length - _u(24))) * factor
    return _hash_16(
        _rotated(e + f, 43) + _rotated(g, 30) + h,
        e + _rotated(f + a, 18) + g,
        factor,
    )


def _weak_hash_32(texts: Texts, offset: Any, a: Any, b: Any) -> tuple[Any, Any]:
    w, x = texts.word(offset), texts.word(offset + _u(8))
    y, z = texts.word(offset + _u(16)), texts.word(offset + _u(24))
    a = a + w
    b = _rotated(b + a + z, 21)
    c = a
    a = a + x + y
    b = b + _rotated(a, 44)
    return a + z, b + c


def _after_block(
    texts: Texts, at: Any, state: tuple[Any, ...], factor: Any, weight: np.uint64
) -> tuple[Any, ...]:
    """What 64 bytes do to the state; the last ones count with another weight."""
    x, y, z, v, v2, w, w2 = state
    x = _rotated(x + y + v + texts.word(at + _u(8)), 37) * factor
    y = _rotated(y + v2 + texts.word(at + _u(48)), 42) * factor
    x = x ^ (w2 * weight)
    y = y + v * weight + texts.word(at + _u(40))
    z = _rotated(z + w, 33) * factor
    v, v2 = _weak_hash_32(texts, at, v2 * factor, x + w)
    w, w2 = _weak_hash_32(texts, at + _u(32), z + w2, y + texts.word(at + _u(16)))
    return z, y, x, v, v2, w, w2


def _longer(texts: Written) -> np.ndarray:
    """Of strings with more than 64 bytes: block by block, the last one by itself."""
    length = texts.lengths
    blocks = (length - _u(1)) // _u(_BLOCK)
    zeros = np.zeros_like(length)
    y = zeros + _SEED * K1 + _u(113)
    z = _shift_mix(y * K2 + _u(113)) * K2
    x = (zeros + _SEED) * K2 + texts.word(0)
    state: tuple[Any, ...] = (x, y, z, zeros, zeros, zeros, zeros)
    for number in range(int(blocks.max())):
        # Strings that are shorter keep what they have.
        going = np.flatnonzero(blocks > number)
        at = np.full(len(going), number * _BLOCK, np.uint64)
        part = tuple(value[going] for value in state)
        done = _after_block(texts.chosen(going), at, part, K1, _u(1))
        state = tuple(map(_with_part, state, [going] * len(state), done))
    x, y, z, v, v2, w, w2 = state
    factor = K1 + ((z & _u(0xFF)) << _u(1))
    w = w + ((length - _u(1)) & _u(_BLOCK - 1))
    v = v + w
    w = w + v
    at = length - _u(_BLOCK)
    x, y, z, v, v2, w, w2 = _after_block(
        texts, at, (x, y, z, v, v2, w, w2), factor, _u(9)
    )
    return _hash_16(
        _hash_16(v, w, factor) + _shift_mix(y) * K0 + z,
        _hash_16(v2, w2, factor) + x,
        factor,
    )


def _with_part(values: np.ndarray, positions: np.ndarray, part: Any) -> np.ndarray:
    values = values.copy()
    values[positions] = part
    return values


# For each way of hashing the length of the longest string that is hashed so.
_WAYS: tuple[tuple[int, Callable[[Any], Any]], ...] = (
    (3, _up_to_3),
    (7, _up_to_7),
    (16, _up_to_16),
    (32, _up_to_32),
    (64, _up_to_64),
)


def fingerprint(strings: list[bytes]) -> np.ndarray:
    """The hash of each string, as ``uint64``."""
    texts = Written.of(strings)
    hashes = np.full(len(strings), K2)
    ways = np.searchsorted([0, *(longest for longest, _ in _WAYS)], texts.lengths)
    for number, way in enumerate([*(way for _, way in _WAYS), _longer], start=1):
        chosen = np.flatnonzero(ways == number)
        if len(chosen):
            # Products and sums are to wrap around.
            with np.errstate(over="ignore"):
                hashes[chosen] = way(texts.chosen(chosen))
    return hashes


def fingerprint_of_digits(digits: Digits) -> Any:
    """The hash of whole numbers in decimal, on JAX's devices."""
    found = _up_to_32(digits)
    for longest, way in reversed(_WAYS[:3]):
        shorter = digits.lengths <= np.uint64(longest)
        found = digits.xp.where(shorter, way(digits), found)
    return found
