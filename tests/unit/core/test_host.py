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
