"""Random arrays from one seed for the program."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dtypes import as_dtype, float32, kind_of
from replax._src.compat.filling import shape_of
from replax._src.replica import scope
from replax._src.replica.randomness import RandomState, replica_key

__all__ = [
    "normal",
    "set_seed",
    "shuffle",
    "stateless_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

_state = RandomState()
# How many keys each function that is being traced has asked for.
_draws: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def set_seed(seed: int) -> None:
    """Begins the program's random numbers anew; they are those of JAX.

    In ``strategy.run`` they come from the strategy instead, a different row on each
    replica: ``strategy.set_seed``.

    >>> import replax.compat.v2 as tf
    >>> tf.random.set_seed(5)
    >>> a = tf.random.normal([])
    >>> tf.random.set_seed(5)
    >>> bool(a == tf.random.normal([]))
    True
    """
    _state.seed = int(seed)
    _state.step = 0


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normally distributed numbers, others at every call.

    Args:
      shape: The shape.
      mean: Their mean.
      stddev: How far they spread.
      dtype: Their dtype.
      seed: Mixed into the seed of the program.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.random.normal([2, 3]).shape
    (2, 3)
    """
    del name
    dtype = as_dtype(dtype)
    drawn = jax.random.normal(_key(seed), shape_of(shape), dtype)
    return drawn * convert_to_tensor(stddev, dtype) + convert_to_tensor(mean, dtype)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers between two limits, the upper one left out, others at every call.

    Args:
      shape: The shape.
      minval: The lower limit.
      maxval: The upper limit; 1 for real numbers, to be given for whole ones.
      dtype: Their dtype.
      seed: Mixed into the seed of the program.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.random.uniform([2], 1, 2, tf.int32)
    Array([1, 1], dtype=int32)
    """
    del name
    return _uniform(lambda: _key(seed), shape, minval, maxval, as_dtype(dtype))


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Normally distributed numbers, none of them two deviations off or more.

    Args:
      shape: The shape.
      mean: Their mean.
      stddev: How far they spread.
      dtype: Their dtype.
      seed: Mixed into the seed of the program.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.random.truncated_normal([2, 3]).shape
    (2, 3)
    """
    del name
    dtype = as_dtype(dtype)
    drawn = jax.random.truncated_normal(_key(seed), -2, 2, shape_of(shape), dtype)
    return drawn * convert_to_tensor(stddev, dtype) + convert_to_tensor(mean, dtype)


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The rows of an array in another order at every call.

    >>> import replax.compat.v2 as tf
    >>> sorted(tf.random.shuffle([1, 2, 3]).tolist())
    [1, 2, 3]
    """
    del name
    return jax.random.permutation(_key(seed), convert_to_tensor(value))


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Numbers between two limits, the same ones for the same seed; see `uniform`.

    Args:
      shape: The shape.
      seed: Two whole numbers.
      minval: The lower limit.
      maxval: The upper limit.
      dtype: Their dtype.
      name: Taken for TensorFlow's sake.
      alg: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> a, b = (tf.random.stateless_uniform([2], seed=[1, 2]) for _ in range(2))
    >>> bool((a == b).all())
    True
    """
    del name, alg
    return _uniform(lambda: _of_seed(seed), shape, minval, maxval, as_dtype(dtype))


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    name: str | None = None,
    alg: str = "auto_select",
) -> Any:
    """Normally distributed numbers, the same ones for the same seed; see `normal`.

    Args:
      shape: The shape.
      seed: Two whole numbers.
      mean: Their mean.
      stddev: How far they spread.
      dtype: Their dtype.
      name: Taken for TensorFlow's sake.
      alg: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> a, b = (tf.random.stateless_normal([2], seed=[1, 2]) for _ in range(2))
    >>> bool((a == b).all())
    True
    """
    del name, alg
    dtype = as_dtype(dtype)
    drawn = jax.random.normal(_of_seed(seed), shape_of(shape), dtype)
    return drawn * convert_to_tensor(stddev, dtype) + convert_to_tensor(mean, dtype)


def _uniform(
    key: Callable[[], jax.Array], shape: Any, minval: Any, maxval: Any, dtype: Any
) -> Any:
    whole = kind_of(dtype) == 1
    if whole and maxval is None:
        msg = f"uniform numbers of {dtype.name} need a maxval"
        raise ValueError(msg)
    low = convert_to_tensor(minval, dtype)
    high = convert_to_tensor(1 if maxval is None else maxval, dtype)
    draw = jax.random.randint if whole else jax.random.uniform
    return draw(key(), shape_of(shape), dtype=dtype, minval=low, maxval=high)


def _of_seed(seed: Any) -> jax.Array:
    first, second = convert_to_tensor(seed)
    return jax.random.fold_in(jax.random.PRNGKey(first), second)


def _key(seed: int | None) -> jax.Array:
    key = _next_key()
    return key if seed is None else jax.random.fold_in(key, int(seed))


def _next_key() -> jax.Array:
    here = scope.current()
    if here is not None and here.replica is not None:
        return here.replica.prng_key()
    frame: Any = scope.current_frame()
    if frame is None:
        return replica_key(jnp.asarray(_state.advance()), 0, 0)
    draw = _draws[frame] = _draws.get(frame, 0) + 1
    return replica_key(frame.seed_and_step(_state), 0, draw)
