"""Functions of Python among those of TensorFlow, called with the values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dtypes import as_dtype, name_of, string
from replax._src.compat.texts import Texts
from replax._src.core.errors import InvalidArgumentError

__all__ = ["numpy_function", "py_function"]


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """What a function of Python makes of arrays.

    In a compiled function it asks for the values, and so makes the function run as
    Python. A function given to a dataset's methods can call Python without this.

    Args:
      func: The function; it gets arrays.
      inp: Its arguments.
      Tout: The dtype of what it gives, or a list of them.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.py_function(lambda x: x + 1, [tf.constant(1)], tf.int32)
    Array(2, dtype=int32)
    """
    del name
    given = [convert_to_tensor(_on_host(value)) for value in inp or []]
    return _returned(_callable(func)(*given), Tout, _converted)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Sequence[Any] | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """What a function of Python makes of NumPy arrays; see :func:`py_function`.

    Args:
      func: The function; it gets NumPy arrays and numbers.
      inp: Its arguments.
      Tout: The dtype of what it gives, or a list of them; nothing is converted.
      stateful: Taken for TensorFlow's sake.
      name: Taken for TensorFlow's sake.

    >>> import numpy as np
    >>> import replax.compat.v2 as tf
    >>> tf.numpy_function(np.sum, [[1.0, 2.0]], tf.float32)
    Array(3., dtype=float32)
    """
    del stateful, name
    given = [_on_host(value) for value in inp or []]
    return _returned(_callable(func)(*given), Tout, _as_it_is)


def _callable(func: Any) -> Callable[..., Any]:
    if not callable(func):
        msg = f"func is {func!r}; give a function that takes the arrays of inp"
        raise TypeError(msg)
    return func


def _on_host(value: Any) -> Any:
    array = convert_to_tensor(value)
    return array.numpy() if isinstance(array, Texts) else np.asarray(array)[()]


def _returned(found: Any, types: Any, converted: Callable[[Any, Any], Any]) -> Any:
    if not isinstance(types, (list, tuple)):
        if isinstance(found, (list, tuple)) and len(found) == 1:
            found = found[0]
        return converted(found, types)
    parts = found if isinstance(found, (list, tuple)) else [found]
    if not types:
        return []
    if len(parts) != len(types):
        msg = (
            f"Tout says that the function gives {len(types)} values, and it gave "
            f"{len(parts)}: {found!r}"
        )
        raise InvalidArgumentError(msg)
    return [converted(part, dtype) for part, dtype in zip(parts, types, strict=True)]


def _converted(value: Any, dtype: Any) -> Any:
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as error:
        msg = f"the function gave {value!r}, which is not what Tout says: {error}"
        raise InvalidArgumentError(msg) from None


def _as_it_is(value: Any, dtype: Any) -> Any:
    array = convert_to_tensor(value) if isinstance(value, bytes) else np.asarray(value)
    found = string if array.dtype.kind in "SUO" else array.dtype
    if found != as_dtype(dtype):
        msg = (
            f"the function gave {name_of(found)}, and Tout says "
            f"{name_of(as_dtype(dtype))}; convert it: x.astype(...)"
        )
        raise InvalidArgumentError(msg)
    return convert_to_tensor(array)
