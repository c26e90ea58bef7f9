"""Data types by their TensorFlow names: NumPy's dtypes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from replax._src.core.specs import STRING

__all__ = [
    "as_dtype",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "kind_of",
    "name_of",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

DType = np.dtype[Any]

bfloat16: DType = np.dtype(jnp.bfloat16)
bool_: DType = np.dtype(np.bool_)
complex64: DType = np.dtype(np.complex64)
complex128: DType = np.dtype(np.complex128)
float16: DType = np.dtype(np.float16)
float32: DType = np.dtype(np.float32)
float64: DType = np.dtype(np.float64)
int8: DType = np.dtype(np.int8)
int16: DType = np.dtype(np.int16)
int32: DType = np.dtype(np.int32)
int64: DType = np.dtype(np.int64)
uint8: DType = np.dtype(np.uint8)
uint16: DType = np.dtype(np.uint16)
uint32: DType = np.dtype(np.uint32)
uint64: DType = np.dtype(np.uint64)
# Strings of any length, each a Python ``bytes``.
string: Any = STRING

# What TensorFlow makes of the Python types that name a dtype.
_PYTHON_TYPES: dict[Any, DType] = {
    float: float32,
    bool: bool_,
    str: string,
    bytes: string,
}

_KINDS = (np.bool_, np.integer, np.floating, np.complexfloating)


def as_dtype(type_value: Any) -> DType:
    """The dtype that a name, a NumPy type or a Python type stands for.

    >>> import replax.compat.v2 as tf
    >>> tf.as_dtype("float32") == tf.float32
    True
    """
    if isinstance(type_value, np.dtype):
        return string if type_value.kind in "SUO" else type_value
    if isinstance(type_value, type) and type_value in _PYTHON_TYPES:
        return _PYTHON_TYPES[type_value]
    if type_value == "string":
        return string
    if type_value in (int, complex):
        names = "tf.int32 or tf.int64" if type_value is int else "tf.complex64"
        msg = f"{type_value!r} is not a dtype, as it has no one width; write {names}"
        raise TypeError(msg)
    return as_dtype(np.dtype(type_value))


def name_of(dtype: Any) -> str:
    """TensorFlow's name of a dtype."""
    return "string" if dtype == string else np.dtype(dtype).name


def kind_of(dtype: Any) -> int:
    """How general numbers of this dtype are: booleans, whole, real, complex."""
    return next(i for i, kind in enumerate(_KINDS) if jnp.issubdtype(dtype, kind))
