"""Host values on their way to devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from replax._src.core import host


@pytest.mark.parametrize(
    "value",
    [2**31, -(2**31) - 1, np.array([1, 2**40]), np.int64(2**31), np.uint64(2**32)],
)
def test_what_does_not_fit_is_named(value: Any) -> None:
    with pytest.raises(OverflowError, match=r"it holds .*does not fit in 32 bits") as e:
        host.canonical(value, "it")
    assert str(int(np.max(np.abs(np.asarray(value, dtype=object))))) in str(e.value)
    assert "jax_enable_x64" in str(e.value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2**31 - 1, "int32"),
        (-(2**31), "int32"),
        (True, "bool"),
        (1.5, "float32"),
        (1j, "complex64"),
        (np.float64(1e300), "float32"),
        (np.array([], np.int64), "int32"),
        (np.array([2**32 - 1], np.uint64), "uint32"),
        ([1, 2], "int32"),
        (np.int8(3), "int8"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_what_fits_is_what_jax_would_hold(value: Any, dtype: str) -> None:
    assert host.canonical(value, "it").dtype == np.dtype(dtype)


def test_with_64_bits_nothing_is_refused() -> None:
    with jax.enable_x64(True):
        assert host.canonical(2**40, "it").dtype == np.int64
        host.check_fits(np.array([2**62]), "it")


@pytest.mark.parametrize("value", ["text", np.array(["a"]), object(), b"bytes"])
def test_what_no_device_takes_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match=r"it is .*cannot be put on a device; keep str"):
        host.canonical(value, "it")


def test_arrays_of_jax_are_taken_as_they_are() -> None:
    array, key = jnp.ones(2), jax.random.key(0)
    assert host.canonical(array, "it") is array
    assert host.canonical(key, "it") is key


@pytest.mark.parametrize("value", [1, 1.0, True, 2j])
def test_numbers_are_python_numbers_only(value: Any) -> None:
    assert host.is_number(value)
    assert not host.is_number(np.asarray(value)[()])


def test_arrays_are_what_holds_numbers() -> None:
    assert host.is_array(jnp.ones(2))
    assert host.is_array(np.float32(1))
    assert not host.is_array(np.array(["a"]))
    assert not host.is_array(1.0)
    assert not host.is_array("a")


def test_an_array_in_place_is_not_moved() -> None:
    near, far = jax.devices()[:2]
    there = jax.device_put(jnp.ones(2), far)
    assert host.placed(there, far) is there
    assert host.placed(there, near).device == near
    # One that is on no particular device is bound to the one that is named.
    assert host.placed(jnp.ones(2), near).committed
    assert host.placed(np.ones(2), far).device == far


def test_an_array_of_the_type_stays_itself() -> None:
    array = jnp.ones(2)
    assert host.typed(array, array.dtype) is array
    weak = jnp.asarray(1.0)
    assert weak.weak_type
    assert not host.typed(weak, weak.dtype).weak_type
    mine = np.ones(2)
    assert host.typed(mine, mine.dtype) is not mine


@pytest.mark.parametrize(
    "value",
    [jnp.float32(3), jnp.ones((2, 0)), jax.random.key(0)],
    ids=["scalar", "empty", "key"],
)
def test_a_row_is_taken_apart_again(value: Any) -> None:
    row = host.row(value)
    assert row.shape == (1, *value.shape)
    again = host.unrowed(row)
    assert again.dtype == value.dtype
    np.testing.assert_array_equal(host.to_numpy(again), host.to_numpy(value))
