"""Parsing examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from replax._src.dataset.examples.by_message import read_messages
from replax._src.dataset.examples.columns import new_column
from replax._src.dataset.examples.features import FixedLenFeature, VarLenFeature
from replax._src.dataset.examples.readers import readers_of

__all__ = ["parse_example", "parse_single_example"]

Features = Mapping[str, FixedLenFeature | VarLenFeature]


def parse_example(serialized: Any, features: Features) -> dict[str, Any]:
    """The features of a batch of examples, as arrays.

    Args:
      serialized: The examples, each as bytes: a list or an array of objects.
      features: What to parse: for each name a FixedLenFeature or a VarLenFeature.
        Others that the examples have are left out.

    Returns:
      For each name an array with the batch as its first axis, strings as objects of
      type bytes; and SparseValues of a VarLenFeature.

    >>> from replax.io import FixedLenFeature, parse_example, serialize_example
    >>> batch = [serialize_example({"x": [i, i]}) for i in range(3)]
    >>> parse_example(batch, {"x": FixedLenFeature([2], "int64")})
    {'x': array([[0, 0],
           [1, 1],
           [2, 2]])}
    """
    _check_features(features)
    if isinstance(serialized, bytes) or getattr(serialized, "ndim", 1) == 0:
        return parse_single_example(serialized, features)
    records = _records(serialized)
    columns = {
        name: new_column(feature, len(records)) for name, feature in features.items()
    }
    rest = readers_of(tuple(features.items())).read(records, columns)
    read_messages(records, rest, "example {} of the batch", features, columns)
    return {name: column.batch() for name, column in columns.items()}


def parse_single_example(serialized: Any, features: Features) -> dict[str, Any]:
    """The features of one example, as arrays.

    Args:
      serialized: The example as bytes.
      features: What to parse: for each name a FixedLenFeature or a VarLenFeature.
        Others that the example has are left out.

    Returns:
      For each name an array, strings as objects of type bytes; and SparseValues of a
      VarLenFeature.

    >>> from replax.io import FixedLenFeature, parse_single_example, serialize_example
    >>> example = serialize_example({"name": "cat", "size": 2.5})
    >>> parse_single_example(example, {"size": FixedLenFeature([], "float32")})
    {'size': array(2.5, dtype=float32)}
    """
    _check_features(features)
    if getattr(serialized, "ndim", None) == 0:
        serialized = serialized.item()
    _check_record(serialized, "the example")
    columns = {name: new_column(feature, 1) for name, feature in features.items()}
    read_messages([serialized], np.array([0]), "the example", features, columns)
    return {name: column.single() for name, column in columns.items()}


def _check_features(features: Any) -> None:
    if not isinstance(features, Mapping) or not features:
        msg = (
            f"features is {features!r}, which asks for nothing; write a dict of what "
            f"to parse, such as {{'label': FixedLenFeature([], 'int64')}}"
        )
        raise ValueError(msg)
    for name, feature in features.items():
        if not isinstance(name, str) or not isinstance(
            feature, (FixedLenFeature, VarLenFeature)
        ):
            msg = (
                f"features[{name!r}] is {feature!r}; names are strings, and what is "
                f"wanted of them a FixedLenFeature or a VarLenFeature"
            )
            raise TypeError(msg)


def _records(serialized: Any) -> list[bytes]:
    if isinstance(serialized, np.ndarray):
        if serialized.ndim != 1:
            msg = (
                f"the examples come as an array of shape {serialized.shape}, and a "
                f"batch has one axis; write examples.ravel()"
            )
            raise ValueError(msg)
        if serialized.dtype.kind == "S":
            msg = (
                f"the examples come as an array of dtype {serialized.dtype}, in which "
                f"NumPy drops zero bytes at the end of each; write "
                f"np.array(examples, dtype=object), or pass the list"
            )
            raise TypeError(msg)
        serialized = serialized.tolist()
    if not isinstance(serialized, (list, tuple)):
        msg = (
            f"the examples come as a {type(serialized).__name__}; write a list of "
            f"bytes, or an array of objects of type bytes"
        )
        raise TypeError(msg)
    for row, record in enumerate(serialized):
        if not isinstance(record, bytes):
            _check_record(record, f"example {row} of the batch")
    return list(serialized)


def _check_record(record: Any, where: str) -> None:
    if not isinstance(record, bytes):
        msg = (
            f"{where} is of type {type(record).__name__}, and a serialized example is "
            f"bytes; pass what a TFRecord file holds, or what serialize_example returns"
        )
        raise TypeError(msg)
