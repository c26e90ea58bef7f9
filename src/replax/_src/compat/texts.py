"""Strings as functions of a dataset get them: bytes that compare with ``str``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

__all__ = ["Text", "with_texts"]


class Text(bytes):
    """One ``tf.string``: bytes that can be compared with a ``str``, and joined to one.

    >>> Text(b"a") + "b" == "ab"
    True
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return bytes.__eq__(self, _bytes(other))

    def __ne__(self, other: object) -> bool:
        return bytes.__ne__(self, _bytes(other))

    __hash__ = bytes.__hash__

    def __add__(self, other: Any) -> Text:
        return Text(bytes.__add__(self, _bytes(other)))

    def __radd__(self, other: Any) -> Text:
        return Text(bytes.__add__(_bytes(other), self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # NumPy reads other kinds of bytes as numbers.
        return np.array(bytes(self), dtype, copy=copy)


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def with_texts(function: Any) -> Any:
    """The function, which is given strings as :class:`Text`."""
    return _WithTexts(function) if callable(function) else function


class _WithTexts:
    # A class, and no closure: what stands for a function is sent to worker processes.
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *element: Any) -> Any:
        return _each(bytes, self._function(*(_each(Text, part) for part in element)))


def _each(kind: type[bytes], value: Any) -> Any:
    """The value with all strings in it of one kind."""
    if isinstance(value, bytes):
        return kind(value)
    if isinstance(value, (tuple, list, dict)):
        return jax.tree_util.tree_map(
            lambda leaf: kind(leaf) if isinstance(leaf, bytes) else leaf, value
        )
    return value
