"""Functions of strings, which are on the host."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dtypes import as_dtype, bool_, float32, int32, kind_of, string
from replax._src.core.errors import InvalidArgumentError

__all__ = [
    "as_string",
    "bytes_split",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_number",
    "upper",
]


# --- strings of strings ---------------------------------------------------------


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """The strings in small letters.

    Args:
      input: A string, or an array of strings.
      encoding: ``"utf-8"`` for the letters of all languages; otherwise those of ASCII.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.lower("AbC")
    array(b'abc', dtype=object)
    """
    del name
    if encoding:
        return _each(lambda text: text.decode(encoding).lower().encode(encoding), input)
    return _each(bytes.lower, input)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """The strings in capital letters; see :func:`lower`.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.upper("AbC")
    array(b'ABC', dtype=object)
    """
    del name
    if encoding:
        return _each(lambda text: text.decode(encoding).upper().encode(encoding), input)
    return _each(bytes.upper, input)


def strip(input: Any, name: str | None = None) -> Any:
    """The strings without spaces and line ends around them.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.strip(" a ")
    array(b'a', dtype=object)
    """
    del name
    return _each(bytes.strip, input)


def substr(
    input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None
) -> Any:
    """Parts of the strings.

    Args:
      input: A string, or an array of strings.
      pos: Where they begin; counted from the end if negative.
      len: How long they are, as far as the string goes on.
      unit: What is counted: ``"BYTE"`` or ``"UTF8_CHAR"``.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.substr("hello", 1, 3)
    array(b'ell', dtype=object)
    """
    del name
    in_letters = _in_letters(unit)

    def part(text: bytes, start: int, count: int) -> bytes:
        whole: Any = text.decode() if in_letters else text
        size = _size(whole)
        if not -size <= start <= size:
            msg = (
                f"substr of {text!r} from {start} on, and it has {size}; give a "
                f"position inside"
            )
            raise InvalidArgumentError(msg)
        first = start + size if start < 0 else start
        cut = whole[first : first + max(count, 0)]
        return cut.encode() if in_letters else cut

    return _each(part, input, np.asarray(pos), np.asarray(len))


def join(inputs: Sequence[Any], separator: str = "", name: str | None = None) -> Any:
    """Strings one after the other, element by element.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.join(["a", ["b", "c"]], separator="-")
    array([b'a-b', b'a-c'], dtype=object)
    """
    del name
    between = _bytes(separator)
    first, *others = inputs
    return _each(
        lambda *texts: between.join(map(bytes, texts)),
        first,
        *(_strings(other) for other in others),
    )


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Any:
    """The strings along dimensions, by default all, one after the other.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.reduce_join(["a", "b"], separator="-")
    array(b'a-b', dtype=object)
    """
    del name
    array, between = _strings(inputs), _bytes(separator)
    axes = range(array.ndim) if axis is None else np.atleast_1d(np.asarray(axis))
    numbers = [int(n) % array.ndim for n in axes]
    kept = [n for n in range(array.ndim) if n not in numbers]
    turned = array.transpose(kept + numbers)
    shape = [array.shape[n] for n in kept]
    rows = turned.reshape(*shape, -1)
    made = np.empty(shape, object)
    for index in np.ndindex(*shape):
        made[index] = between.join(map(bytes, rows[index]))
    if keepdims:
        made = np.expand_dims(made, tuple(sorted(numbers)))
    return convert_to_tensor(made)


def regex_replace(
    input: Any,
    pattern: Any,
    rewrite: Any,
    replace_global: bool = True,
    name: str | None = None,
) -> Any:
    r"""The strings with what matches a pattern replaced.

    Args:
      input: A string, or an array of strings.
      pattern: A regular expression, of Python's.
      rewrite: What comes in its place; ``\1`` stands for a group of the pattern.
      replace_global: Whether all places are replaced rather than the first.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.regex_replace("hello", "l+", "-")
    array(b'he-o', dtype=object)
    """
    del name
    wanted, by = re.compile(_bytes(pattern)), _bytes(rewrite)
    by = by.replace(rb"\0", rb"\g<0>")
    return _each(lambda text: wanted.sub(by, text, 0 if replace_global else 1), input)


def split(
    input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """The parts of one string.

    TensorFlow makes a ragged tensor of several strings, which there is none of here:
    map this to the strings of a dataset before they are batched.

    Args:
      input: A string.
      sep: What is between the parts; by default spaces, as many as there are.
      maxsplit: At how many places to split at most.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.split("a,b", sep=",")
    array([b'a', b'b'], dtype=object)
    """
    del name
    text = _one(input, "split")
    return _row(text.split(_bytes(sep) if sep else None, maxsplit))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of one string, each as a string.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.bytes_split("ab")
    array([b'a', b'b'], dtype=object)
    """
    del name
    text = _one(input, "bytes_split")
    return _row([text[i : i + 1] for i in range(_size(text))])


# --- strings and numbers --------------------------------------------------------


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers as they are written.

    Args:
      input: Numbers or booleans.
      precision: How many digits real numbers have after the point.
      scientific: Whether real numbers are written with an exponent,
      shortest: or in the shorter way of the two.
      width: How long the strings are at least.
      fill: What they are filled with at the left; spaces by default.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.as_string([1, 20])
    array([b'1', b'20'], dtype=object)
    """
    del name
    array = convert_to_tensor(input)
    if isinstance(array, np.ndarray):
        return array
    place = f"%{fill}{width if width >= 0 else ''}"
    if kind_of(array.dtype) > kind_of(int32):
        digits = f".{precision}" if precision >= 0 else ""
        form = f"{place}{digits}{'e' if scientific else 'g' if shortest else 'f'}"
    else:
        form = f"{place}{'s' if array.dtype == bool_ else 'd'}"
    numbers = np.asarray(array)
    made = np.empty(numbers.shape, object)
    for index in np.ndindex(numbers.shape):
        number = numbers[index].item()
        shown = str(number).lower() if number is True or number is False else number
        made[index] = (form % shown).encode()
    return convert_to_tensor(made)


def to_number(input: Any, out_type: Any = float32, name: str | None = None) -> Any:
    """The numbers that strings say.

    Raises:
      InvalidArgumentError: A string says none.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.to_number(["1", "2"], tf.int32)
    Array([1, 2], dtype=int32)
    """
    del name
    dtype = as_dtype(out_type)
    read: Any = float if kind_of(dtype) > kind_of(int32) else int

    def number(text: bytes) -> Any:
        try:
            return read(text)
        except ValueError:
            msg = f"to_number of {text!r}, which is no number of {dtype.name}"
            raise InvalidArgumentError(msg) from None

    return _numbers(number, input, dtype)


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """How long the strings are.

    Args:
      input: A string, or an array of strings.
      unit: What is counted: ``"BYTE"`` or ``"UTF8_CHAR"``.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.length(["a", "bcd"])
    Array([1, 3], dtype=int32)
    """
    del name
    if _in_letters(unit):
        return _numbers(lambda text: _size(text.decode()), input, int32)
    return _numbers(_size, input, int32)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Any:
    """Whether a pattern, a regular expression of Python's, is all of a string.

    >>> import replax.compat.v2 as tf
    >>> tf.strings.regex_full_match(["ab", "b"], "a.*")
    Array([ True, False], dtype=bool)
    """
    del name
    wanted = re.compile(_bytes(pattern))
    return _numbers(lambda text: wanted.fullmatch(text) is not None, input, bool_)


# --- element by element ---------------------------------------------------------

_size = len


def _bytes(value: Any) -> bytes:
    return bytes(_strings(value)[()])


def _one(value: Any, what: str) -> bytes:
    array = _strings(value)
    if array.ndim:
        msg = (
            f"{what} of {list(array.shape)} strings would make rows of different "
            f"lengths; give one string: dataset.map(lambda text: tf.strings.{what}"
            f"(text)) before batch()"
        )
        raise NotImplementedError(msg)
    return bytes(array[()])


def _strings(value: Any) -> np.ndarray:
    array = convert_to_tensor(value)
    if array.dtype != string:
        msg = f"{value!r} is no string; tf.strings.as_string makes one of numbers"
        raise TypeError(msg)
    return array


def _row(parts: Sequence[bytes]) -> Any:
    made = np.empty(_size(parts), object)
    made[:] = parts
    return convert_to_tensor(made)


def _in_letters(unit: str) -> bool:
    if unit not in {"BYTE", "UTF8_CHAR"}:
        msg = f"unit is {unit!r}; give 'BYTE' or 'UTF8_CHAR'"
        raise ValueError(msg)
    return unit == "UTF8_CHAR"


def _each(function: Callable[..., bytes], value: Any, *others: np.ndarray) -> Any:
    """What a function makes of each string, and of the values beside it."""
    columns = np.broadcast_arrays(_strings(value), *others)
    made = np.empty(columns[0].shape, object)
    for index in np.ndindex(made.shape):
        text, *beside = (column[index] for column in columns)
        made[index] = function(bytes(text), *beside)
    return convert_to_tensor(made)


def _numbers(function: Callable[[bytes], Any], value: Any, dtype: Any) -> Any:
    array = _strings(value)
    made = np.empty(array.shape, dtype)
    for index in np.ndindex(array.shape):
        made[index] = function(bytes(array[index]))
    return convert_to_tensor(made)
