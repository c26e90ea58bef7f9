"""Hashes on devices are those of the host, with and without 64-bit values."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replax._src.preprocessing.buckets import (
    Salt,
    buckets_of_numbers,
    buckets_of_strings,
)
from replax._src.preprocessing.farmhash import fingerprint
from replax._src.preprocessing.siphash import keyed_hash
from replax._src.preprocessing.texts import Written

SALTS: list[Any] = [None, (133, 2**64 - 1)]
EDGES = [0, 1, -1, 9, 10, -10, 99, 100, 2**31 - 1, -(2**31)]
WIDE = [*EDGES, 10**18, -(10**18), 2**63 - 1, -(2**63)]


def test_published_hashes() -> None:
    """Of SipHash's own paper, and of an empty string by FarmHash."""
    message, key = bytes(range(15)), bytes(range(16))
    halves = (int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little"))
    assert int(keyed_hash(Written.of([message]), 15, halves)[0]) == 0xA129CA6149BE45E5
    assert int(fingerprint([b""])[0]) == 0x9AE16A3B2F90404F


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=150), min_size=1, max_size=20))
def test_a_string_has_one_hash_in_any_company(strings: list[bytes]) -> None:
    alone = [int(fingerprint([string])[0]) for string in strings]
    assert fingerprint(strings).tolist() == alone
    for salt in ((1, 2),):
        longest = max(map(len, strings))
        together = keyed_hash(Written.of(strings), longest, salt).tolist()
        alone = [int(keyed_hash(Written.of([s]), len(s), salt)[0]) for s in strings]
        assert together == alone


@pytest.mark.parametrize("salt", SALTS)
@pytest.mark.parametrize("count", [1, 7, 2**31 - 1])
def test_devices_hash_as_the_host_does(salt: Salt | None, count: int) -> None:
    numbers = np.array([*EDGES, *range(-500, 500, 7)], np.int32)
    strings = [str(number).encode() for number in numbers.tolist()]
    wanted = buckets_of_strings(strings, count, salt)
    np.testing.assert_array_equal(buckets_of_numbers(numbers, count, salt), wanted)
    hashed = jax.jit(lambda x: buckets_of_numbers(x, count, salt))
    found = hashed(jnp.asarray(numbers).reshape(-1, 1))
    assert found.dtype == jnp.int32
    np.testing.assert_array_equal(found[:, 0], wanted)


@pytest.mark.parametrize("salt", SALTS)
def test_devices_hash_wide_numbers(salt: Salt | None) -> None:
    wanted = buckets_of_numbers(np.array(WIDE), 2**40, salt)
    with jax.enable_x64(True):
        found = jax.jit(lambda x: buckets_of_numbers(x, 2**40, salt))(jnp.array(WIDE))
        assert found.dtype == jnp.int64
        np.testing.assert_array_equal(found, wanted)


def test_no_strings_have_no_hashes() -> None:
    assert buckets_of_strings([], 5, None).shape == (0,)
    assert buckets_of_strings([], 5, (1, 2)).shape == (0,)
    assert buckets_of_numbers(np.zeros((0, 3), np.int64), 5, None).shape == (0, 3)
