"""Host values on their way to devices: what fits, what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax import lax

from replax._src.core import jax_compat
from replax._src.core.jax_compat import ArrayClass, KeyArrayClass

__all__ = [
    "canonical",
    "check_fits",
    "is_array",
    "is_key",
    "is_number",
    "numbers_of",
    "of_numbers",
    "own_copy",
    "placed",
    "row",
    "shown",
    "to_numpy",
    "typed",
    "unrowed",
]

_WIDE = frozenset("iu")


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array of numbers: of JAX, of NumPy, or traced."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind not in "OUSMm"
    # The last are keys of random numbers.
    return isinstance(value, (ArrayClass, jax.core.Tracer, KeyArrayClass))


def is_number(value: Any) -> bool:
    """Whether ``value`` is a plain Python number."""
    return type(value) in (int, float, complex, bool)


def check_fits(value: Any, what: str) -> None:
    """Refuses an integer that a 32-bit device value would silently change.

    Args:
      value: A NumPy value or a Python integer.
      what: How to call it in the error.
    """
    if jax_compat.setting("jax_enable_x64"):
        return
    if type(value) is int:
        fits = -(2**31) <= value < 2**31
    else:
        dtype = value.dtype
        if dtype.itemsize < 8 or dtype.kind not in _WIDE or value.size == 0:
            return
        narrow = np.iinfo(np.int32 if dtype.kind == "i" else np.uint32)
        low, high = int(value.min()), int(value.max())
        fits = narrow.min <= low and high <= narrow.max
        value = high if high > narrow.max else low
    if not fits:
        msg = (
            f"{what} holds {value}, which does not fit in 32 bits, and 64-bit values "
            f"are off; switch them on with jax.config.update('jax_enable_x64', True) "
            f"before anything is computed, or use smaller numbers"
        )
        raise OverflowError(msg)


def canonical(value: Any, what: str) -> Any:
    """``value`` as JAX would hold it, NumPy values still on the host."""
    if isinstance(value, (ArrayClass, jax.core.Tracer, jax.Array)):
        return value
    if is_number(value):
        if type(value) is int:
            check_fits(value, what)
        return np.asarray(value, jax.dtypes.canonicalize_dtype(np.asarray(value).dtype))
    host = np.asarray(value)
    if host.dtype.kind in "OUSMm":
        msg = (
            f"{what} is {_shorten(value)}, which cannot be put on a device; keep "
            f"strings and Python objects on the host, outside of compiled steps"
        )
        raise TypeError(msg)
    check_fits(host, what)
    return host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)


def typed(array: Any, dtype: Any) -> Any:
    """The array as ``dtype``, not weakly typed; a copy if it is the host's.

    Keys of random numbers are of no other dtype, and taken as they are.
    """
    if isinstance(array, ArrayClass) and array.dtype == dtype and not array.weak_type:
        return array
    return array if is_key(dtype) else array.astype(dtype)


def is_key(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jax.dtypes.extended)


def numbers_of(value: Any) -> Any:
    """The array itself; of a key of random numbers the numbers it is made of."""
    return jax.random.key_data(value) if is_key(value.dtype) else value


def of_numbers(numbers: Any, like: Any) -> Any:
    """What `numbers_of` was given, made again of other numbers."""
    if not is_key(like.dtype):
        return numbers
    return jax.random.wrap_key_data(numbers, impl=jax.random.key_impl(like))


def to_numpy(value: Any) -> np.ndarray:
    """The value on the host; of a key of random numbers the numbers it is made of."""
    return np.asarray(numbers_of(value))


def shown(value: jax.Array) -> str:
    """The value as NumPy shows it; a key of random numbers as JAX does."""
    if is_key(value.dtype):
        return repr(value)
    return repr(np.array(value))


def placed(array: Any, device: jax.Device) -> jax.Array:
    """The array on ``device``; itself if it is there already."""
    if isinstance(array, ArrayClass) and array.committed and array.device == device:
        return array
    return jax.device_put(array, device)


def free(value: Any) -> Any:
    """The same value, which can be used together with arrays of any device."""
    if isinstance(value, ArrayClass) and value.committed and _is_on_one(value):
        return jax_compat.uncommitted(value)
    return value


def _is_on_one(array: jax.Array) -> bool:
    return len(array.sharding.device_set) == 1


# Compiled, because an operation of `jax.numpy` costs four times what its program does.
row: Callable[[Any], jax.Array] = jax.jit(lambda part: lax.expand_dims(part, (0,)))
unrowed: Callable[[Any], jax.Array] = jax.jit(lambda row: lax.squeeze(row, (0,)))


def own_copy(value: Any) -> jax.Array:
    """A strongly typed copy in a buffer that nobody else has."""
    if isinstance(value, (np.ndarray, np.generic)):
        # JAX copies memory of the host later, when its owner may have changed it.
        value = np.array(value)
    return jnp.array(value, dtype=value.dtype, copy=True)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
