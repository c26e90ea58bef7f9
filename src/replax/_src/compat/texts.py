"""Strings: bytes and arrays of them that can be used like those of TensorFlow."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from replax._src.core.specs import STRING

__all__ = ["Text", "Texts", "texts"]


class Text(bytes):
    """One ``tf.string``: bytes that can be compared with a ``str``, and joined to one.

    >>> bool(Text(b"a") + "b" == "ab")
    True
    """

    __slots__ = ()

    def __eq__(self, other: object) -> Any:
        return _truth(bytes.__eq__(self, _bytes(other)))

    def __ne__(self, other: object) -> Any:
        return _truth(bytes.__ne__(self, _bytes(other)))

    __hash__ = bytes.__hash__

    def __add__(self, other: Any) -> Text:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return Text(bytes.__add__(self, _bytes(other)))

    def __radd__(self, other: Any) -> Text:
        return Text(bytes.__add__(_bytes(other), self))

    def numpy(self) -> bytes:
        """The value on the host, where it is."""
        return bytes(self)


class Texts(np.ndarray):
    """Strings: a NumPy array of :class:`Text`, with the method that arrays have."""

    @property
    def dtype(self) -> Any:
        """NumPy's ``object``, by TensorFlow's name for it."""
        return STRING

    def numpy(self) -> Any:
        """The value on the host: a NumPy array of ``bytes``, or ``bytes``."""
        each = (bytes(text) for text in self.reshape(-1))
        return np.fromiter(each, object, self.size).reshape(self.shape)[()]

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Any:
        # Comparisons make arrays like others.
        return array.view(Texts) if array.dtype == object else jnp.asarray(array)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


def texts(value: Any) -> Texts:
    """Strings, a nest of lists of them or an array, as an array."""
    found = np.array(value, dtype=object)
    each = (Text(_bytes(text)) for text in found.reshape(-1))
    made = np.fromiter(each, object, found.size)
    return made.reshape(found.shape).view(Texts)


def _truth(answer: Any) -> Any:
    # As of arrays: `~` is `not`.
    return answer if answer is NotImplemented else np.bool_(answer)


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
