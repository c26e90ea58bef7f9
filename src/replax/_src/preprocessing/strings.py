"""Strings of the host: ``str`` and ``bytes`` alike, as lists of ``bytes``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from replax._src.preprocessing.arrays import is_on_device

__all__ = ["as_array_of_bytes", "as_bytes", "flat_bytes", "is_text", "refuse_device"]

_BYTES = frozenset({bytes})


def is_text(value: Any) -> bool:
    """Whether a value is a string, or an array of strings."""
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "OSUT"
    return isinstance(value, (list, tuple)) and _first_is_text(value)


def _first_is_text(values: Any) -> bool:
    while isinstance(values, (list, tuple)) and values:
        values = values[0]
    return isinstance(values, (str, bytes))


def as_bytes(value: Any, encoding: str) -> bytes:
    """One string."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode(encoding)
    msg = f"{value!r} is a {type(value).__name__}, and no string; give str or bytes"
    raise TypeError(msg)


def flat_bytes(
    layer: str, inputs: Any, encoding: str
) -> tuple[list[bytes], tuple[int, ...]]:
    """The strings of an array, one after the other, and its shape.

    Args:
      layer: Who was given it, for the error.
      inputs: A string, or an array or nested lists of strings.
      encoding: Of those that are ``str``.

    Raises:
      TypeError: There is something else in it.
    """
    if isinstance(inputs, (str, bytes)):
        return [as_bytes(inputs, encoding)], ()
    if is_on_device(inputs):
        refuse_device(layer, inputs)
    array = inputs if isinstance(inputs, np.ndarray) else _as_array(inputs)
    if array.dtype.kind not in "OSUT" and array.size:
        msg = (
            f"{layer} got an array of {array.dtype.name}, and takes strings; for whole "
            f"numbers use IntegerLookup, or convert with .astype(str)"
        )
        raise TypeError(msg)
    found: list[Any] = array.ravel().tolist() if array.size else []
    if not _BYTES.issuperset(map(type, found)):
        found = [as_bytes(item, encoding) for item in found]
    return found, array.shape


def _as_array(value: Any) -> np.ndarray:
    """Nested lists as an array; of objects, so that no string loses a final NUL."""
    if isinstance(value, (list, tuple)):
        return np.array(value, object)
    return np.asarray(value)


def refuse_device(layer: str, inputs: Any) -> None:
    """Says that a layer of strings has no use for arrays on devices."""
    msg = (
        f"{layer} got {inputs.dtype.name}{list(inputs.shape)} on a device, where there "
        f"are no strings; use the layer in Dataset.map, ahead of the model"
    )
    raise TypeError(msg)


def as_array_of_bytes(strings: Iterable[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """The strings as an array of objects."""
    listed = list(strings)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array.reshape(shape)
