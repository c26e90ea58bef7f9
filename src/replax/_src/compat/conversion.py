"""Values of all kinds made into arrays, with TensorFlow's default dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.compat.dtypes import (
    as_dtype,
    bool_,
    complex128,
    float32,
    int32,
    int64,
    kind_of,
    name_of,
    string,
)
from replax._src.compat.texts import Texts, texts
from replax._src.values.distributed import DistributedValues, Mirrored
from replax._src.values.kinds import VariableSnapshot
from replax._src.values.variable import Variable

__all__ = [
    "another",
    "cast",
    "constant",
    "convert_to_tensor",
    "identity",
    "like",
    "operands",
    "stop_gradient",
    "tensors",
]

_STRING_KINDS = "SUO"


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """The array that a value stands for.

    Python's whole numbers become ``int32``, real ones ``float32``; NumPy arrays keep
    their dtype. Strings become NumPy arrays of ``bytes``.

    Args:
      value: An array, a variable, a number, a string, or a list of these.
      dtype: What it has to be. Arrays and variables of another dtype are a ValueError.
      dtype_hint: The dtype to take if the value can be that.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.convert_to_tensor([1.0, 2.0])
    Array([1., 2.], dtype=float32)
    """
    del name
    dtype = None if dtype is None else as_dtype(dtype)
    tensor = _known_array(value)
    if tensor is not None:
        if dtype is not None and tensor.dtype != dtype:
            msg = (
                f"the value has dtype {name_of(tensor.dtype)}, but {name_of(dtype)} is "
                f"asked for; convert it with tf.cast(value, tf.{name_of(dtype)})"
            )
            raise ValueError(msg)
        return tensor
    if dtype is None and dtype_hint is not None:
        hint = as_dtype(dtype_hint)
        if _can_become(value, hint):
            dtype = hint
    return _placed(value, dtype)


def constant(
    value: Any, dtype: Any = None, shape: Any = None, name: str = "Const"
) -> Any:
    """An array with the given value; see :func:`convert_to_tensor`.

    Args:
      value: A number, a string, a NumPy array, or a list of these.
      dtype: Converts the value.
      shape: What shape it is given; one number fills all of it.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.constant([1, 2, 3, 4], shape=[2, 2])
    Array([[1, 2],
           [3, 4]], dtype=int32)
    >>> tf.constant("text")
    array(b'text', dtype=object)
    """
    del name
    try:
        tensor = convert_to_tensor(value, dtype)
    except ValueError as error:
        if _known_array(value) is None:
            raise
        raise TypeError(str(error)) from None
    if shape is None:
        return tensor
    shape = tuple(int(n) for n in shape)
    if tensor.size == 1:
        filled = _numpy_for(tensor).broadcast_to(tensor.reshape(()), shape)
        return convert_to_tensor(filled)
    if tensor.size != np.prod(shape):
        msg = (
            f"shape={shape} has {np.prod(shape)} elements, and the value has "
            f"{tensor.size}; give a value of as many, or one number to fill it with"
        )
        raise TypeError(msg)
    return tensor.reshape(shape)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The value in another dtype; real numbers lose their fraction in whole ones.

    >>> import replax.compat.v2 as tf
    >>> tf.cast(2.7, tf.int32)
    Array(2, dtype=int32)
    """
    del name
    dtype = as_dtype(dtype)
    tensor = convert_to_tensor(x)
    if (tensor.dtype == string) != (dtype == string):
        msg = (
            f"cast of {name_of(tensor.dtype)} to {name_of(dtype)}: strings are no "
            f"numbers; convert them on the host, for example with NumPy's astype"
        )
        raise TypeError(msg)
    return tensor if tensor.dtype == dtype else tensor.astype(dtype)


def identity(input: Any, name: str | None = None) -> Any:
    """A copy, which later assignments to a variable do not change.

    >>> import replax.compat.v2 as tf
    >>> v = tf.Variable(1.0)
    >>> before = tf.identity(v)
    >>> v.assign(2.0).numpy(), before.numpy()
    (array(2., dtype=float32), np.float32(1.0))
    """
    del name
    value = convert_to_tensor(input)
    return another(value, value)


def another(result: Any, *given: Any) -> Any:
    """What an operation has made: an object that is none of those it was given.

    It matters to steps: what all replicas return as one object, they return once.
    """
    if all(result is not value for value in given):
        return result
    return result.copy() if isinstance(result, np.ndarray) else jnp.array(result)


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The value, as a constant to differentiation.

    >>> import jax
    >>> import replax.compat.v2 as tf
    >>> jax.grad(lambda x: x * tf.stop_gradient(x))(tf.constant(3.0))
    Array(3., dtype=float32)
    """
    del name
    value = convert_to_tensor(input)
    return another(jax.lax.stop_gradient(value), value)


def tensors(values: Sequence[Any]) -> list[Any]:
    """Values that are put together, as arrays of the first array's dtype."""
    known = [v for v in map(_known_array, values) if v is not None]
    if known:
        return [like(value, known[0].dtype) for value in values]
    found = [convert_to_tensor(value) for value in values]
    widest = max(found, key=lambda x: _generality(x.dtype), default=None)
    return [like(value, widest.dtype) for value in values] if widest is not None else []


def operands(*values: Any) -> tuple[Any, ...]:
    """Values that are computed with: the others follow the first array's dtype."""
    known = [v for v in map(_known_array, values) if v is not None]
    dtype = (known[0] if known else convert_to_tensor(values[0])).dtype
    return tuple(like(value, dtype) for value in values)


def like(value: Any, dtype: Any) -> Any:
    """The value as an array; numbers and lists of them are given this dtype."""
    known = _known_array(value)
    return _placed(value, as_dtype(dtype)) if known is None else known


# --- arrays there are already ---------------------------------------------------


def _known_array(value: Any) -> Any:
    """The array that something with a dtype of its own is; None for host values."""
    if isinstance(value, jax.Array):
        return value
    if isinstance(value, (Variable, VariableSnapshot)):
        return value.read_value()
    if isinstance(value, Mirrored):
        return value.values[0]
    if isinstance(value, DistributedValues):
        msg = (
            f"a {type(value).__name__} holds one value for each replica and is not an "
            f"array; give it to strategy.run as an argument, or reduce or gather it"
        )
        raise ValueError(msg)  # noqa: TRY004 - as TensorFlow does
    if isinstance(value, np.ndarray) and value.dtype == string:
        return value if isinstance(value, Texts) else texts(value)
    return None


def _numpy_for(tensor: Any) -> Any:
    return np if isinstance(tensor, np.ndarray) else jnp


# --- host values ----------------------------------------------------------------


def _placed(value: Any, dtype: Any) -> Any:
    """A host value as an array, whose numbers Python can see while tracing."""
    if _holds_arrays(value):
        return jnp.stack(tensors(value)) if dtype is None else _packed(value, dtype)
    array = _host_array(value, dtype)
    if array.dtype == string:
        return array
    with jax.ensure_compile_time_eval():
        return jnp.asarray(array)


def _packed(value: Any, dtype: Any) -> Any:
    return jnp.stack([convert_to_tensor(part, dtype) for part in value])


def _holds_arrays(value: Any) -> bool:
    """Whether a list has arrays in it, so that it is put together on the device."""
    return isinstance(value, (list, tuple)) and any(
        isinstance(part, (jax.Array, Variable, VariableSnapshot, DistributedValues))
        for part in _atoms(value)
    )


def _atoms(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple, range)):
        for part in value:
            yield from _atoms(part)
    else:
        yield value


def _host_array(value: Any, dtype: Any) -> np.ndarray:
    if isinstance(value, (np.ndarray, np.generic)):
        return _of_numpy(np.asarray(value), dtype)
    for atom in _atoms(value):
        if not isinstance(atom, (bool, int, float, complex, str, bytes, np.generic)):
            if hasattr(atom, "__array__"):
                return _of_numpy(np.asarray(value), dtype)
            msg = (
                f"{atom!r} cannot be made into an array; give numbers, strings, "
                f"arrays, or lists of these"
            )
            raise ValueError(msg)
    kept = _common_kind(value)
    if dtype is not None:
        if any(True for _ in _atoms(value)):
            _check_becomes(value, kept, dtype)
        kept = dtype
    if kept == string:
        return texts(value)
    try:
        return np.array(value, kept)
    except ValueError as error:
        msg = f"{value!r} is not rectangular: its parts differ in length"
        raise ValueError(msg) from error


def _of_numpy(array: np.ndarray, dtype: Any) -> np.ndarray:
    if array.dtype.kind in _STRING_KINDS:
        array = texts(array)
    if dtype is None or dtype == array.dtype:
        return array
    if string in (dtype, array.dtype):
        found = name_of(array.dtype)
        msg = f"an array of {found} cannot become one of {name_of(dtype)}"
        raise TypeError(msg)
    return array.astype(dtype)


def _common_kind(value: Any) -> Any:
    """TensorFlow's dtype for Python numbers: that of the most general of them."""
    found, seen = float32, False
    for atom in _atoms(value):
        dtype = _default_dtype(atom)
        if not seen:
            found, seen = dtype, True
        elif (dtype == string) != (found == string) or (dtype == bool_) != (
            found == bool_
        ):
            msg = f"{value!r} mixes strings, booleans and numbers; an array is of one"
            raise ValueError(msg)
        elif _generality(dtype) > _generality(found):
            found = dtype
    return found


def _generality(dtype: Any) -> tuple[int, int]:
    if dtype == string:
        return (9, 0)
    return (kind_of(dtype), np.dtype(dtype).itemsize)


def _default_dtype(atom: Any) -> Any:
    if isinstance(atom, np.generic):
        return string if atom.dtype.kind in _STRING_KINDS else atom.dtype
    if isinstance(atom, bool):
        return bool_
    if isinstance(atom, int):
        return int32 if -(2**31) <= atom < 2**31 else int64
    if isinstance(atom, float):
        return float32
    return complex128 if isinstance(atom, complex) else string


def _can_become(value: Any, dtype: Any) -> bool:
    """Whether numbers of Python lose nothing but precision as this dtype."""
    if _holds_arrays(value):
        return False
    if isinstance(value, np.ndarray):
        return string not in (dtype, value.dtype)
    return _fits_kind(_common_kind(value), dtype)


def _fits_kind(found: Any, dtype: Any) -> bool:
    if string in (found, dtype) or bool_ in (found, dtype):
        return found == dtype
    return kind_of(found) <= kind_of(dtype)


def _check_becomes(value: Any, found: Any, dtype: Any) -> None:
    if _fits_kind(found, dtype) or isinstance(value, np.generic):
        return
    name = name_of(dtype)
    msg = (
        f"{value!r} cannot become {name} as it is; write it as {name}, or convert it "
        f"with tf.cast(value, tf.{name})"
    )
    raise TypeError(msg)
