"""Making examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from replax._src.dataset.examples.features import as_values
from replax._src.dataset.examples.message import example_class

__all__ = ["serialize_example"]


def serialize_example(features: Mapping[str, Any]) -> bytes:
    """One example as bytes: the message ``tf.train.Example``.

    Whole numbers and booleans are kept as int64, other numbers as float32, strings and
    bytes as bytes. Shapes are not kept: values come in a row.

    Args:
      features: For each name an array, a number, a string, bytes, or a list of these.

    >>> from replax.io import FixedLenFeature, parse_single_example, serialize_example
    >>> example = serialize_example({"label": 3, "weights": [0.5, 0.25]})
    >>> parse_single_example(
    ...     example,
    ...     {
    ...         "label": FixedLenFeature([], "int64"),
    ...         "weights": FixedLenFeature([2], "float32"),
    ...     },
    ... )
    {'label': array(3), 'weights': array([0.5 , 0.25], dtype=float32)}
    """
    message = example_class()()
    entries = message.features.feature
    for name, value in features.items():
        if not isinstance(name, str):
            msg = (
                f"the name {name!r} of a feature is of type {type(name).__name__}; "
                f"write a string"
            )
            raise TypeError(msg)
        values = _values(name, value)
        kind = values.dtype.kind
        entry = entries[name]
        if kind == "O":
            entry.bytes_list.value.extend(values.tolist())
        elif kind == "f":
            entry.float_list.value.extend(values.tolist())
        else:
            entry.int64_list.value.extend(values.tolist())
        if not values.size:
            # So that the feature is there, of its dtype, with no values.
            getattr(entry, _LISTS[kind]).SetInParent()
    # Names in order: files of the same data are then the same, and quickly parsed.
    return message.SerializeToString(deterministic=True)


_LISTS = {"O": "bytes_list", "f": "float_list", "i": "int64_list"}


def _values(name: str, value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, (list, tuple)) and not value:
        msg = (
            f"the feature {name!r} is an empty list, which does not say of what; write "
            f"np.array([], dtype), or leave the feature out"
        )
        raise ValueError(msg)
    try:
        values = as_values(value)
    except OverflowError as error:
        msg = f"the feature {name!r} cannot be kept: {error}"
        raise OverflowError(msg) from None
    except ValueError as error:  # NumPy's, of lists of different lengths
        msg = (
            f"the feature {name!r} is no array ({error}); write its values in a row, "
            f"and their number as another feature"
        )
        raise ValueError(msg) from None
    if values is None:
        msg = (
            f"the feature {name!r} is {_shown(value)} of type {type(value).__name__}, "
            f"and an example holds whole numbers, floats or strings, each feature of "
            f"one kind; write an array of numbers, or bytes (array.tobytes())"
        )
        raise TypeError(msg)
    return values


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
