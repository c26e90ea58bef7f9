"""Tables of Arrow as blocks of elements: a dict of columns, without a copy if may be.

Nothing of pyarrow is imported here: tables and types are asked what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block, Column
from replax._src.dataset.structure import ElementSpec

__all__ = ["Numbers", "block_of", "spec_of"]

# Which element has the value at a place.
Numbers = Callable[[int], int]


def spec_of(schema: Any) -> ElementSpec:
    """What the rows of tables of a schema look like.

    Raises:
      TypeError: A column is of a type that NumPy has no arrays of.
    """
    return ElementSpec.from_tree(
        {field.name: _spec(field.type, field.name) for field in schema}
    )


def block_of(table: Any, number_of: Numbers) -> Block:
    """The rows of a table.

    Args:
      table: A ``pyarrow.Table`` or a batch of records.
      number_of: Which element a row is, for errors.

    Raises:
      InvalidArgumentError: A value is missing.
    """
    tree = {
        name: _column(column, name, number_of)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }
    leaves, treedef = jax.tree_util.tree_flatten(tree, is_leaf=_is_column)
    return Block(treedef, leaves, table.num_rows)


def _is_column(value: Any) -> bool:
    return isinstance(value, (list, np.ndarray))


_STRINGS = frozenset({"string", "large_string", "binary", "large_binary"})
_LISTS = ("list<", "large_list<", "fixed_size_list<")


def _spec(kind: Any, name: str) -> Any:
    written = str(kind)
    if written in _STRINGS or written.startswith("fixed_size_binary["):
        return TensorSpec((), object)
    if written.startswith("dictionary<"):
        return _spec(kind.value_type, name)
    if written.startswith("struct<"):
        return {f.name: _spec(f.type, f"{name}.{f.name}") for f in kind.fields}
    if written.startswith(_LISTS):
        inner = _spec(kind.value_type, name)
        if isinstance(inner, TensorSpec):
            size = kind.list_size if written.startswith("fixed_size_list<") else None
            return TensorSpec((size, *inner.shape), inner.dtype)
    dtype = _dtype(kind, written)
    if dtype is not None:
        return TensorSpec((), dtype)
    msg = (
        f"column {name!r} is of Arrow's type {written}, and NumPy has no such arrays; "
        f"choose others with columns=[...], or cast it before"
    )
    raise TypeError(msg)


def _dtype(kind: Any, written: str) -> np.dtype[Any] | None:
    if written.startswith("timestamp["):
        return np.dtype(f"datetime64[{kind.unit}]")
    if written.startswith("duration["):
        return np.dtype(f"timedelta64[{kind.unit}]")
    name = _DTYPES.get(written)
    return None if name is None else np.dtype(name)


_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
_DTYPES = {
    **_FLOATS,
    "bool": "bool",
    "date32[day]": "datetime64[D]",
    "date64[ms]": "datetime64[ms]",
    **{f"{s}int{b}": f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)},
}


def _column(column: Any, name: str, numbers: Numbers) -> Any:
    kind = column.type
    written = str(kind)
    if written.startswith("dictionary<"):
        return _column(column.cast(kind.value_type), name, numbers)
    if column.null_count and written not in _FLOATS:
        missing = numbers(column.is_null().to_pylist().index(True))
        msg = (
            f"element {missing} has no value in column {name!r}, and arrays have no "
            f"missing values; fill them in, or leave such rows out, before"
        )
        raise InvalidArgumentError(msg)
    if written.startswith("struct<"):
        parts = _in_one_piece(column).flatten()
        return {
            field.name: _column(part, f"{name}.{field.name}", numbers)
            for field, part in zip(kind.fields, parts, strict=True)
        }
    if written.startswith(_LISTS):
        return _lists(_in_one_piece(column), name, numbers)
    array: np.ndarray = _in_one_piece(column).to_numpy(zero_copy_only=False)
    return array


def _in_one_piece(column: Any) -> Any:
    """The column as one array; that of a table may be several."""
    return column.combine_chunks() if hasattr(column, "chunks") else column


def _lists(column: Any, name: str, numbers: Numbers) -> Column:
    spec: TensorSpec = _spec(column.type, name)
    if spec.shape.rank != 1 or spec.dtype == object:
        return [
            _nested(row, spec, name, numbers(place))
            for place, row in enumerate(column.to_pylist())
        ]
    lengths = np.diff(_offsets(column))
    ends = np.cumsum(lengths)

    def number_of(place: int) -> int:
        return numbers(int(np.searchsorted(ends, place, "right")))

    values = _column(column.flatten(), name, number_of)
    if len(lengths) and (lengths == lengths[0]).all():
        return values.reshape(len(lengths), int(lengths[0]))
    return np.split(values, ends[:-1])


def _offsets(column: Any) -> np.ndarray:
    if str(column.type).startswith("fixed_size_list<"):
        return np.arange(len(column) + 1) * column.type.list_size
    return column.offsets.to_numpy()


def _nested(row: Sequence[Any], spec: TensorSpec, name: str, number: int) -> np.ndarray:
    """Lists in a list, or strings."""
    try:
        array = np.array(row, spec.dtype)
    except (TypeError, ValueError) as error:
        msg = (
            f"element {number} has lists of different lengths, or missing values, in "
            f"column {name!r} ({error}); make them of one length before"
        )
        raise InvalidArgumentError(msg) from error
    rank = spec.shape.rank or 0
    return array if array.ndim == rank else array.reshape((0,) * rank)
