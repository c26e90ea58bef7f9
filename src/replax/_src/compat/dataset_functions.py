"""Functions of users that datasets call: what they get, and what they give."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.texts import Text, Texts, texts
from replax._src.dataset.structure import Opaque

__all__ = ["asking", "making", "on_host", "scanning"]


def making(function: Any) -> Any:
    """A function that makes elements, of the dtypes that TensorFlow would give them."""
    return _Making(function) if callable(function) else function


def asking(function: Any) -> Any:
    """A function that is asked something about elements."""
    return _Asking(function) if callable(function) else function


def scanning(function: Any) -> Any:
    """A function that makes a state and an element."""
    return _Scanning(function) if callable(function) else function


class _Asking:
    # A class, and no closure: what stands for a function is sent to worker processes.
    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *element: Any) -> Any:
        return self._function(*(_each(_text, part) for part in element))


class _Making(_Asking):
    def __call__(self, *element: Any) -> Any:
        made = super().__call__(*element)
        # A list that stands for an element is several values; within one, an array.
        return on_host(tuple(made) if type(made) is list else made)


class _Scanning(_Asking):
    def __call__(self, *element: Any) -> Any:
        made = super().__call__(*element)
        return tuple(map(on_host, made)) if isinstance(made, tuple) else made


def on_host(value: Any) -> Any:
    """A nest of values as NumPy arrays, of the dtypes that TensorFlow gives them."""
    return _each(_host, value)


def _each(convert: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (tuple, list, dict)):
        return jax.tree_util.tree_map(convert, value, is_leaf=_is_list)
    return convert(value)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _text(leaf: Any) -> Any:
    if isinstance(leaf, bytes):
        return Text(leaf)
    is_strings = isinstance(leaf, np.ndarray) and leaf.dtype == object
    return texts(leaf) if is_strings else leaf


def _host(value: Any) -> Any:
    if isinstance(value, bytes):
        return bytes(value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "OSU":
        return value
    if value is None or isinstance(value, Opaque):
        return value
    array = convert_to_tensor(value)
    return array.numpy() if isinstance(array, Texts) else np.asarray(array)
