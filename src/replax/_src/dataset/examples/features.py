"""What is expected of a feature of an example, and what comes of it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "FixedLenFeature",
    "SparseValues",
    "VarLenFeature",
    "as_values",
    "name_of_dtype",
]

_INT64 = np.dtype(np.int64)
_FLOAT32 = np.dtype(np.float32)
_STRING = np.dtype(np.object_)


class SparseValues(NamedTuple):
    """Values at some places of an array, as TensorFlow's SparseTensor holds them.

    Args:
      indices: The places, a row of ``indices`` for each value.
      values: The values.
      dense_shape: The shape of the whole array.

    >>> from replax.io import VarLenFeature, parse_single_example, serialize_example
    >>> example = serialize_example({"words": ["a", "b"]})
    >>> parse_single_example(example, {"words": VarLenFeature("string")})["words"]
    SparseValues(indices=array([[0],
           [1]]), values=array([b'a', b'b'], dtype=object), dense_shape=array([2]))
    """

    indices: np.ndarray[Any, np.dtype[np.int64]]
    values: np.ndarray[Any, Any]
    dense_shape: np.ndarray[Any, np.dtype[np.int64]]


@dataclasses.dataclass(frozen=True, eq=False)
class FixedLenFeature:
    """A feature that has equally many values in all examples.

    Args:
      shape: The shape of its values in one example; ``[]`` for one value.
      dtype: int64, float32 or string.
      default_value: What examples without this feature have; without a default they
        are an error.

    >>> from replax.io import FixedLenFeature
    >>> FixedLenFeature([2], "float32", default_value=[0.0, 1.0])
    FixedLenFeature(shape=(2,), dtype=dtype('float32'), default_value=[0.0, 1.0])
    """

    shape: Any
    dtype: Any
    default_value: Any = None

    # The default as an array of that shape.
    default: np.ndarray[Any, Any] | None = dataclasses.field(init=False, repr=False)
    # What makes two of them equal; plain, so that comparing it is quick.
    key: tuple[Any, ...] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        shape = _fixed_shape(self.shape)
        dtype = _feature_dtype(self.dtype)
        default = None
        if self.default_value is not None:
            default = _default(self.default_value, shape, dtype)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "default", default)
        values = None if default is None else tuple(default.ravel().tolist())
        object.__setattr__(self, "key", (shape, dtype.char, values))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FixedLenFeature) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def size(self) -> int:
        """How many values an example has of it."""
        return math.prod(self.shape)


@dataclasses.dataclass(frozen=True)
class VarLenFeature:
    """A feature that may have any number of values, or none.

    Args:
      dtype: int64, float32 or string.

    >>> from replax.io import VarLenFeature
    >>> VarLenFeature("int64")
    VarLenFeature(dtype=dtype('int64'))
    """

    dtype: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", _feature_dtype(self.dtype))


def name_of_dtype(dtype: np.dtype[Any]) -> str:
    """What the dtype of a feature is called."""
    return "string" if dtype == _STRING else dtype.name


def as_values(value: Any) -> np.ndarray[Any, Any] | None:
    """A user's values as int64, float32 or bytes objects; None if they are neither.

    Numbers that would be changed are an OverflowError.
    """
    if isinstance(value, (str, bytes)):
        return _strings([value])
    if isinstance(value, (list, tuple)) and _holds_strings(value):
        # NumPy would make strings of numbers beside them.
        return _strings(_flat(value))
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return _strings(array.ravel().tolist())
    if array.dtype.kind in "SU":
        # Bytes that end with zeros have lost these in an array of dtype S already.
        return _strings(array.ravel().tolist())
    if array.dtype.kind in "iub":
        return _int64(array)
    # Numbers of ml_dtypes such as bfloat16 are of kind "V".
    if array.dtype.kind == "f" or array.dtype.name in {"bfloat16", "float8_e4m3fn"}:
        return _float32(array)
    return None


def _feature_dtype(dtype: Any) -> np.dtype[Any]:
    if dtype is float:
        return _FLOAT32  # as TensorFlow takes it
    if dtype in (str, bytes, object) or (isinstance(dtype, str) and dtype == "string"):
        return _STRING
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is not None and found.kind in "SUO":
        return _STRING
    if found is not None and found in (_INT64, _FLOAT32):
        return found
    came = repr(dtype) if found is None else found.name
    msg = (
        f"a feature cannot be of dtype {came}: an example holds int64, float32 and "
        f"string, and nothing else; ask for one of these, and cast what is parsed"
    )
    raise ValueError(msg)


def _fixed_shape(shape: Any) -> tuple[int, ...]:
    dims: Iterable[Any] = shape if isinstance(shape, Iterable) else (shape,)
    dims = tuple(dims)
    if any(d is None or int(d) < 0 for d in dims):
        msg = (
            f"the shape {list(dims)} of a FixedLenFeature leaves a dimension open, and "
            f"all examples must have as many values as it says; write the number, or "
            f"VarLenFeature(dtype)"
        )
        raise ValueError(msg)
    return tuple(int(d) for d in dims)


def _default(
    value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    values = as_values(value)
    whole_as_float = values is not None and dtype == _FLOAT32 and values.dtype == _INT64
    if values is None or not (values.dtype == dtype or whole_as_float):
        msg = (
            f"the default_value {value!r} does not suit a feature of dtype "
            f"{name_of_dtype(dtype)}; write values of this dtype"
        )
        raise TypeError(msg)
    if values.size != math.prod(shape):
        msg = (
            f"the default_value {value!r} has {values.size} values, and the shape "
            f"{list(shape)} has {math.prod(shape)}; write as many"
        )
        raise ValueError(msg)
    default = values.astype(dtype).reshape(shape)
    default.flags.writeable = False
    return default


def _holds_strings(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_holds_strings, value))
    return isinstance(value, (str, bytes))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def _strings(values: list[Any]) -> np.ndarray[Any, Any] | None:
    array = np.empty(len(values), np.object_)
    for i, value in enumerate(values):
        if isinstance(value, str):
            array[i] = value.encode()
        elif isinstance(value, bytes):
            array[i] = bytes(value)
        else:
            return None
    return array


def _int64(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
        msg = (
            f"the number {int(array.max())} does not fit in 64 bits with a sign, which "
            f"is what an example holds; write it as a string"
        )
        raise OverflowError(msg)
    return array.astype(_INT64).ravel()


def _float32(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore"):
        narrow = array.astype(_FLOAT32).ravel()
    if array.dtype.itemsize > _FLOAT32.itemsize:
        lost = np.isinf(narrow) & np.isfinite(array.ravel())
        if lost.any():
            msg = (
                f"the number {array.ravel()[lost][0]} does not fit in a float32, which "
                f"is what an example holds; scale it, or write it as a string"
            )
            raise OverflowError(msg)
    return narrow
