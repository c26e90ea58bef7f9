"""Numbers and texts out of bytes: of files, of lines, of records."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from replax._src.compat.conversion import constant, convert_to_tensor
from replax._src.compat.dtypes import as_dtype, name_of, string
from replax._src.compat.strings import to_number
from replax._src.core.errors import InvalidArgumentError, NotFoundError

__all__ = [
    "decode_csv",
    "decode_raw",
    "read_file",
    "write_file",
]


def read_file(filename: Any, name: str | None = None) -> Any:
    """All bytes of a file, as a string.

    >>> import pathlib, tempfile
    >>> import replax.compat.v2 as tf
    >>> file = str(pathlib.Path(tempfile.mkdtemp()) / "a.txt")
    >>> tf.io.write_file(file, "abc")
    >>> tf.io.read_file(file)
    array(b'abc', dtype=object)
    """
    del name
    path = Path(_one(filename).decode())
    try:
        return convert_to_tensor(path.read_bytes())
    except FileNotFoundError:
        msg = f"there is no file {str(path)!r} (looked from {Path.cwd()})"
        raise NotFoundError(msg) from None


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Makes a file of these bytes, and the folders on the way to it.

    >>> import pathlib, tempfile
    >>> import replax.compat.v2 as tf
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "new" / "a.txt"
    >>> tf.io.write_file(str(file), "abc")
    >>> file.read_text()
    'abc'
    """
    del name
    path = Path(_one(filename).decode())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_one(contents))


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Any:
    """The numbers whose memory strings are.

    Args:
      input_bytes: A string, or an array of strings of one length.
      out_type: The dtype of the numbers.
      little_endian: Whether the lowest byte of a number comes first.
      fixed_length: To how many bytes to cut or fill each string, with zeros.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.io.decode_raw(b"ab", tf.uint8)
    Array([97, 98], dtype=uint8)
    """
    del name
    dtype = as_dtype(out_type)
    array = convert_to_tensor(input_bytes, string)
    stored = dtype.newbyteorder("<" if little_endian else ">")
    rows: list[np.ndarray] = []
    for text in map(bytes, array.reshape(-1)):
        kept = text if fixed_length is None else text[:fixed_length]
        kept = kept.ljust(fixed_length or 0, b"\0")
        if len(kept) % dtype.itemsize:
            msg = (
                f"decode_raw of {len(kept)} bytes, which are no whole number of "
                f"{dtype.name}, of {dtype.itemsize} bytes each"
            )
            raise InvalidArgumentError(msg)
        rows.append(np.frombuffer(kept, stored))
    if len({len(row) for row in rows}) > 1:
        msg = "decode_raw of strings of different lengths; give them one by one"
        raise InvalidArgumentError(msg)
    made = np.stack(rows) if rows else np.empty((0, 0))
    return convert_to_tensor(made.astype(dtype).reshape(*array.shape, -1))


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Any]:
    """The columns of lines of values with commas between them.

    Args:
      records: A line, or an array of lines.
      record_defaults: For each column a list of the value for empty places, or a
        dtype if there must be none. They say the dtypes.
      field_delim: What is between the values.
      use_quote_delim: Whether values may stand in quotation marks.
      na_value: What stands for an empty place too.
      select_cols: Which columns to take; all by default.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.io.decode_csv("1,2.5", [[0], [0.0]])
    [Array(1, dtype=int32), Array(2.5, dtype=float32)]
    """
    del name
    lines = convert_to_tensor(records, string)
    quoting = csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE
    rows: list[list[str]] = []
    for line in map(bytes, lines.reshape(-1)):
        source = io.StringIO(line.decode(), newline="")
        row = next(csv.reader(source, delimiter=field_delim, quoting=quoting), [])
        wanted = len(record_defaults) if select_cols is None else max(select_cols) + 1
        if len(row) < wanted or (select_cols is None and len(row) > wanted):
            msg = f"the line {line!r} has {len(row)} values, and {wanted} are asked for"
            raise InvalidArgumentError(msg)
        rows.append(row if select_cols is None else [row[i] for i in select_cols])
    columns = zip(*rows, strict=True) if rows else [[] for _ in record_defaults]
    return [
        _column(values, default, na_value).reshape(lines.shape)
        for values, default in zip(columns, record_defaults, strict=True)
    ]


def _column(values: Sequence[str], default: Any, na_value: str) -> Any:
    filled = _default(default)
    dtype = as_dtype(default) if filled is None else filled.dtype
    made: list[Any] = []
    for value in values:
        if value and value != na_value:
            text = value.strip() if dtype != string else value
            made.append(text if dtype == string else to_number(text, dtype))
        elif filled is None:
            msg = f"an empty place in a column of {name_of(dtype)} without a default"
            raise InvalidArgumentError(msg)
        else:
            made.append(filled.reshape(-1)[0])
    return constant(made, dtype) if made else convert_to_tensor(np.empty(0, dtype))


def _default(default: Any) -> Any:
    """The value for empty places, of which there may be none."""
    if isinstance(default, (list, tuple, np.ndarray)) or hasattr(default, "shape"):
        array = convert_to_tensor(default)
        return array if array.size else None
    is_value = isinstance(default, (int, float, str, bytes))
    return constant(default) if is_value else None


def _one(value: Any) -> bytes:
    array = convert_to_tensor(value, string)
    if array.ndim:
        msg = f"{value!r} is an array of strings; give one string"
        raise InvalidArgumentError(msg)
    return bytes(array[()])
