"""What is expected of features."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from replax._src.dataset.examples.features import FixedLenFeature, VarLenFeature

DTYPES = {
    np.dtype(np.int64): ["int64", np.int64, np.dtype("int64"), jnp.int64],
    np.dtype(np.float32): ["float32", np.float32, jnp.float32, float, "f4"],
    np.dtype(object): ["string", str, bytes, object, np.bytes_, np.str_, "S", "O"],
}


@pytest.mark.parametrize(
    ("dtype", "name"), [(d, name) for d, names in DTYPES.items() for name in names]
)
def test_dtypes_have_many_names(dtype, name):
    assert VarLenFeature(name).dtype == dtype
    assert FixedLenFeature([2], name).dtype == dtype


@pytest.mark.parametrize("dtype", ["int32", np.float64, jnp.bfloat16, bool, "nothing"])
@pytest.mark.parametrize("make", [VarLenFeature, lambda d: FixedLenFeature([], d)])
def test_other_dtypes_are_refused(make, dtype):
    with pytest.raises(ValueError, match=r"int64, float32 and string, .* and cast"):
        make(dtype)


@pytest.mark.parametrize("shape", [[None], [2, None], [-1], None])
def test_open_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"leaves a dimension open.*VarLenFeature"):
        FixedLenFeature(shape, "int64")


def test_shapes():
    assert FixedLenFeature([2, 3], "int64").shape == (2, 3)
    assert FixedLenFeature(2, "int64").shape == (2,)
    assert FixedLenFeature((), "int64").shape == ()


@pytest.mark.parametrize(
    ("shape", "dtype", "default", "error", "said"),
    [
        ([2], "int64", 7, ValueError, r"has 1 values, and the shape \[2\] has 2"),
        ([], "int64", 1.5, TypeError, r"default_value 1.5 .* of dtype int64"),
        ([], "string", 1, TypeError, r"default_value 1 .* of dtype string"),
        ([], "float32", "x", TypeError, r"default_value 'x' .* of dtype float32"),
        ([], "float32", {}, TypeError, r"write values of this dtype"),
    ],
)
def test_defaults_are_checked(shape, dtype, default, error, said):
    with pytest.raises(error, match=said):
        FixedLenFeature(shape, dtype, default)


def test_features_are_equal_by_what_they_ask_for():
    assert FixedLenFeature([2], "int64") == FixedLenFeature((2,), np.int64)
    one = FixedLenFeature([2], "float32", [1, 2])
    assert one == FixedLenFeature([2], "float32", np.array([1.0, 2.0]))
    assert hash(one) == hash(FixedLenFeature([2], "float32", (1.0, 2.0)))
    assert one != FixedLenFeature([2], "float32", [1, 3])
    assert one != FixedLenFeature([2], "float32")
    assert one != FixedLenFeature([1, 2], "float32", [1, 2])
    assert FixedLenFeature([], "int64") != FixedLenFeature([], "float32")
    assert VarLenFeature("string") == VarLenFeature(bytes)
    assert VarLenFeature("string") != VarLenFeature("int64")


def test_a_default_that_is_changed_later_stays_what_it_was():
    default = np.array([1, 2])
    feature = FixedLenFeature([2], "int64", default)
    default[0] = 9
    assert feature.default is not None
    assert feature.default.tolist() == [1, 2]
