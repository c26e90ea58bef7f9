"""Control flow that is written as calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.shapes import stack, unstack

__all__ = ["cond", "map_fn", "while_loop"]


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What one of two functions gives.

    It is like ``if``: in a compiled function it makes the function run as Python, where
    :func:`where`, of values that are both computed, is compiled.

    Args:
      pred: Which one.
      true_fn: Called if it is True,
      false_fn: and otherwise.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.cond(tf.constant(1) < 2, lambda: tf.constant(3), lambda: tf.constant(4))
    Array(3, dtype=int32)
    """
    del name
    if not callable(true_fn) or not callable(false_fn):
        msg = f"cond got {true_fn!r} and {false_fn!r}; give two functions"
        raise TypeError(msg)
    made = true_fn() if bool(_asked(pred)) else false_fn()
    return jax.tree_util.tree_map(convert_to_tensor, made)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """What is left when a function has been called as long as another one says.

    It is like ``while``, and in a compiled function makes it run as Python.

    Args:
      cond: Takes the values, and says whether to go on.
      body: Takes the values, and gives the next ones.
      loop_vars: The first values.
      shape_invariants: Taken for TensorFlow's sake, like those that follow.
      parallel_iterations: See ``shape_invariants``.
      back_prop: See ``shape_invariants``.
      swap_memory: See ``shape_invariants``.
      maximum_iterations: How often to call ``body`` at most.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0)])
    [Array(3, dtype=int32)]
    """
    del shape_invariants, parallel_iterations, back_prop, swap_memory, name
    values: Any = jax.tree_util.tree_map(convert_to_tensor, loop_vars)
    calls = 0
    while (maximum_iterations is None or calls < int(maximum_iterations)) and bool(
        _asked(cond(*values))
    ):
        made = body(*values)
        made = made if isinstance(made, (list, tuple)) else [made]
        parts = jax.tree_util.tree_map(convert_to_tensor, made)
        values = tuple(parts) if isinstance(loop_vars, tuple) else list(parts)
        calls += 1
    return values


def map_fn(
    fn: Callable[..., Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """What a function makes of each row, as rows.

    Args:
      fn: The function; of a nest of arrays it gets a nest of rows.
      elems: An array, or a nest of arrays of one length.
      dtype: Taken for TensorFlow's sake, like those that follow.
      parallel_iterations: See ``dtype``.
      back_prop: See ``dtype``.
      swap_memory: See ``dtype``.
      infer_shape: See ``dtype``.
      name: See ``dtype``.
      fn_output_signature: See ``dtype``.

    >>> import replax.compat.v2 as tf
    >>> tf.map_fn(lambda x: x * 2, tf.constant([1, 2]))
    Array([2, 4], dtype=int32)
    """
    del dtype, parallel_iterations, back_prop, swap_memory, infer_shape, name
    del fn_output_signature
    leaves, treedef = jax.tree_util.tree_flatten(elems, is_leaf=_is_list)
    rows = zip(*(unstack(leaf) for leaf in leaves), strict=True)
    made = [fn(treedef.unflatten(row)) for row in rows]
    return jax.tree_util.tree_map(lambda *parts: stack(parts), *made)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _asked(value: Any) -> Any:
    return value if isinstance(value, (bool, np.bool_)) else convert_to_tensor(value)
