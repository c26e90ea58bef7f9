"""Positions of other libraries, as JSON can hold them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

__all__ = ["packed", "unpacked"]

# The only key of a dict that stands for something which JSON does not have.
_BYTES, _TUPLE, _ARRAY, _PAIRS = "bytes", "tuple", "array", "dict"


def packed(value: Any) -> Any:
    """Of a nest of dicts, lists, tuples, numbers, strings, bytes and NumPy arrays.

    Raises:
      TypeError: There is something else in it.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, (np.ndarray, np.generic)):
        data = base64.b64encode(value.tobytes()).decode()
        return {_ARRAY: [value.dtype.str, list(value.shape), data]}
    if isinstance(value, dict):
        return {_PAIRS: [[packed(k), packed(v)] for k, v in value.items()]}
    if isinstance(value, list):
        return [packed(item) for item in value]
    if isinstance(value, tuple):
        return {_TUPLE: [packed(item) for item in value]}
    msg = (
        f"the position of a dataset of another library has a {type(value).__name__} in "
        f"it, which cannot be saved: {value!r}"
    )
    raise TypeError(msg)


def unpacked(value: Any) -> Any:
    """What :func:`packed` was given."""
    if isinstance(value, list):
        return [unpacked(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == _BYTES:
        return base64.b64decode(content)
    if kind == _ARRAY:
        dtype, shape, data = content
        array = np.frombuffer(base64.b64decode(data), np.dtype(dtype))
        return array.reshape(shape).copy()[()]
    if kind == _PAIRS:
        return {unpacked(k): unpacked(v) for k, v in content}
    return tuple(unpacked(item) for item in content)
