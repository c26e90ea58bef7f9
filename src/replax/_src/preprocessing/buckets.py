"""Hash buckets: the same numbers as TensorFlow's, for strings and whole numbers."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.preprocessing.farmhash import fingerprint, fingerprint_of_digits
from replax._src.preprocessing.siphash import keyed_hash
from replax._src.preprocessing.texts import LONGEST_NUMBER, Digits, Written

__all__ = ["Salt", "as_salt", "buckets_of_numbers", "buckets_of_strings"]

Salt = tuple[int, int]


def as_salt(layer: str, salt: Any) -> Salt | None:
    """Two numbers, of two numbers or one."""
    if salt is None:
        return None
    numbers = (salt, salt) if isinstance(salt, int) else salt
    if (
        isinstance(numbers, (tuple, list))
        and len(numbers) == 2
        and all(isinstance(number, int) for number in numbers)
    ):
        return int(numbers[0]), int(numbers[1])
    msg = f"salt of {layer} is {salt!r}; give a whole number, or a pair of them"
    raise ValueError(msg)


def buckets_of_strings(
    strings: list[bytes], count: int, salt: Salt | None
) -> np.ndarray:
    """The bucket of each string, as ``int64``."""
    if salt is None:
        hashes = fingerprint(strings)
    else:
        longest = max(map(len, strings), default=0)
        hashes = keyed_hash(Written.of(strings), longest, salt)
    return (hashes % np.uint64(count)).astype(np.int64)


def buckets_of_numbers(numbers: Any, count: int, salt: Salt | None) -> Any:
    """The bucket of each whole number, which is hashed as it is written in decimal."""
    if isinstance(numbers, jax.Array):
        return _on_device(numbers, count, salt)
    flat = numbers.astype(np.int64, copy=False).ravel()
    # Of equal numbers one is enough, and ids mostly are few.
    found, positions = np.unique(flat, return_inverse=True)
    strings: list[bytes] = [b"%d" % number for number in found.tolist()]
    return buckets_of_strings(strings, count, salt)[positions].reshape(numbers.shape)


# Compiled, because one by one its many operations would take milliseconds.
@functools.partial(jax.jit, static_argnums=(1, 2))
def _on_device(numbers: jax.Array, count: int, salt: Salt | None) -> jax.Array:
    dtype = jax.dtypes.canonicalize_dtype(np.int64)
    # The hashes have 64 bits, whatever the program around them has.
    with jax.enable_x64(True):  # noqa: FBT003 - it takes its flag by position only
        digits = Digits(numbers.ravel().astype(jnp.int64))
        if salt is None:
            hashes = fingerprint_of_digits(digits)
        else:
            hashes = keyed_hash(digits, LONGEST_NUMBER, salt)
        buckets = (hashes % np.uint64(count)).astype(dtype)
        return buckets.reshape(numbers.shape)
