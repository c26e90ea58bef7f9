"""What TensorFlow says of the order and the place of operations.

Programs of Replax run in the order in which they are written, so there is nothing to do
for the order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import jax

from replax._src.compat.function import executing_eagerly
from replax._src.replica import scope
from replax._src.topology.devices import resolve_all

__all__ = ["control_dependencies", "device", "group", "inside_function", "no_op"]


def control_dependencies(
    control_inputs: Sequence[Any] | None,
) -> contextlib.AbstractContextManager[None]:
    """What is in the ``with`` block comes after ``control_inputs``, as it does anyway.

    >>> import replax.compat.v2 as tf
    >>> v = tf.Variable(1)
    >>> with tf.control_dependencies([v.assign_add(1)]):
    ...     print(tf.identity(v))
    2
    """
    del control_inputs
    return contextlib.nullcontext()


def group(*inputs: Any, name: str | None = None) -> None:
    """Does nothing: all of ``inputs`` have been computed.

    >>> import replax.compat.v2 as tf
    >>> tf.group(tf.constant(1), tf.constant(2))
    """
    del inputs, name


def no_op(name: str | None = None) -> None:
    """Does nothing.

    >>> import replax.compat.v2 as tf
    >>> tf.no_op()
    """
    del name


def inside_function() -> bool:
    """Whether a function is being traced.

    >>> import replax.compat.v2 as tf
    >>> tf.inside_function()
    False
    """
    return not executing_eagerly()


def device(
    device_name: str | Callable[..., Any] | None,
) -> contextlib.AbstractContextManager[Any]:
    """Where arrays and variables are made that are made in the ``with`` block.

    In a compiled function and in a step, places are those of the program and of the
    replica.

    Args:
      device_name: A name such as ``"/cpu:1"``; None, or a function, for no wish.

    >>> import replax.compat.v2 as tf
    >>> with tf.device("/cpu:0"):
    ...     x = tf.constant([1.0])
    >>> x.numpy()
    array([1.], dtype=float32)
    """
    if device_name is None or callable(device_name):
        return contextlib.nullcontext()
    (chosen,) = resolve_all([device_name])
    here = scope.current()
    in_step = here is not None and here.replica is not None
    if in_step or scope.current_frame() is not None:
        return contextlib.nullcontext()
    return jax.default_device(chosen)
