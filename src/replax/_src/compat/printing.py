"""``tf.print``: values in TensorFlow's notation, when they have been computed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from replax._src.compat.dtypes import string
from replax._src.core import jax_compat
from replax._src.core.specs import TensorShape
from replax._src.values.distributed import DistributedValues
from replax._src.values.variable import Variable

__all__ = ["print"]


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int | None = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Prints values; in a compiled function each time that it runs.

    Args:
      *inputs: Arrays, variables, strings, and nests of these.
      output_stream: Something with ``write``; by default standard error.
      summarize: How many elements at each end of a dimension are shown; -1 for all.
      sep: What stands between the inputs.
      end: What stands after them.
      name: Taken for TensorFlow's sake.

    >>> import sys
    >>> import replax.compat.v2 as tf
    >>> tf.print("x:", tf.constant([1.0, 2.5]), output_stream=sys.stdout)
    x: [1 2.5]
    """
    del name
    write = _writer(output_stream)
    most = 3 if summarize is None else summarize
    values = [_snapshot(value) for value in inputs]
    leaves, treedef = jax.tree.flatten(values, is_leaf=_is_printed_whole)
    traced = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def show(*arrays: Any) -> None:
        present = list(leaves)
        for position, array in zip(traced, arrays, strict=True):
            present[position] = np.asarray(array)
        shown = [_top(value, most) for value in treedef.unflatten(present)]
        write(sep.join(shown) + end)

    arrays = [leaves[position] for position in traced]
    if jax_compat.is_staging():
        jax.debug.callback(show, *arrays)
    else:
        show(*arrays)


def _writer(stream: Any) -> Callable[[str], Any]:
    if stream is not None and not hasattr(stream, "write"):
        msg = (
            f"output_stream is {stream!r}; give something with a write method, such "
            f"as sys.stdout or an open file"
        )
        raise ValueError(msg)

    def write(text: str) -> None:
        # Looked up when it prints, so that a redirection counts.
        target = sys.stderr if stream is None else stream
        target.write(text)
        target.flush()

    return write


def _snapshot(value: Any) -> Any:
    """Variables by their value; per-replica values by those of the replicas."""

    def read(leaf: Any) -> Any:
        if isinstance(leaf, Variable):
            return leaf.read_value()
        if isinstance(leaf, DistributedValues):
            return _Replicas(type(leaf).__name__, leaf.values)
        if isinstance(leaf, np.ndarray) and leaf.dtype != string:
            return _Text(repr(leaf))
        return leaf

    return jax.tree.map(read, value, is_leaf=_is_printed_whole)


def _is_printed_whole(value: Any) -> bool:
    kinds = (DistributedValues, Variable, TensorShape)
    return value is None or isinstance(value, kinds)


class _Text(str):
    """What is to be printed as it is, wherever it stands."""

    __slots__ = ()


@jax.tree_util.register_pytree_node_class
class _Replicas:
    """The components of a per-replica value, on their way to the printer."""

    def __init__(self, kind: str, values: Any) -> None:
        self.kind = kind
        self.values = values

    def tree_flatten(self) -> tuple[Any, str]:
        return (tuple(self.values),), self.kind

    @classmethod
    def tree_unflatten(cls, kind: str, children: Any) -> _Replicas:
        return cls(kind, children[0])


# --- notation -------------------------------------------------------------------


def _top(value: Any, most: int) -> str:
    """An input by itself: strings are printed as they are."""
    return value if isinstance(value, str) else _nested(value, most)


def _nested(value: Any, most: int) -> str:
    match value:
        case _Text():
            return str(value)
        case TensorShape():
            return repr(value)
        case np.ndarray():
            return _array(value, most)
        case _Replicas():
            rows = ",\n".join(
                f"  {i}: {_nested(part, most)}" for i, part in enumerate(value.values)
            )
            return f"{value.kind}:{{\n{rows}\n}}"
        case dict():
            items = [f"{k!r}: {_nested(v, most)}" for k, v in value.items()]
            return "{" + ", ".join(items) + "}"
        case list():
            return "[" + ", ".join(_nested(part, most) for part in value) + "]"
        case tuple():
            inside = ", ".join(_nested(part, most) for part in value)
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        case _:
            return repr(value)


def _array(array: np.ndarray, most: int) -> str:
    if array.ndim == 0:
        return _element(array[()])
    length = len(array)
    separator = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " "
    if most < 0 or length <= 2 * most:
        rows = [_part(part, most) for part in array]
    else:
        first = [_part(part, most) for part in array[:most]]
        last = [_part(part, most) for part in array[length - most :]]
        rows = [*first, "...", *last]
    return "[" + separator.join(row.replace("\n", "\n ") for row in rows) + "]"


def _part(part: Any, most: int) -> str:
    return _array(part, most) if isinstance(part, np.ndarray) else _element(part)


def _element(value: Any) -> str:
    if isinstance(value, bytes):
        return _quoted(value)
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, np.float64):
        short = f"{float(value):.15g}"
        return short if float(short) == float(value) else f"{float(value):.17g}"
    if isinstance(value, np.generic) and np.asarray(value).dtype.kind in "fV":
        single = np.float32(value)
        short = f"{single:.6g}"
        return short if np.float32(short) == single else f"{single:.9g}"
    return str(value)


def _quoted(text: bytes) -> str:
    return f'"{text.decode(errors="replace")}"'
