"""``tf.function`` and whether something is being traced."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.compat.results import values_of
from replax._src.core import jax_compat
from replax._src.execution.function import Function
from replax._src.replica import scope

__all__ = ["executing_eagerly", "function"]


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: dict[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Compiles a function; ``replax.function`` with TensorFlow's arguments.

    Python numbers among the arguments are part of the program, as TensorFlow has it:
    another number compiles another one. In place of numbers and variables it returns
    arrays.

    Args:
      func: The function; left out when used as ``@tf.function(...)``.
      input_signature: What the arguments have to be: a nest of TensorSpecs for each.
      autograph: Taken for TensorFlow's sake, like all that follow: control flow over
        values works, and everything is compiled.
      jit_compile: See ``autograph``.
      reduce_retracing: See ``autograph``.
      experimental_implements: See ``autograph``.
      experimental_autograph_options: See ``autograph``.
      experimental_attributes: See ``autograph``.
      experimental_relax_shapes: See ``autograph``.
      experimental_compile: See ``autograph``.
      experimental_follow_type_hints: See ``autograph``.

    Returns:
      A :class:`replax.Function`.

    >>> import replax.compat.v2 as tf
    >>> @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ... def total(x):
    ...     return tf.reduce_sum(x)
    >>> total([1.0, 2.0])
    Array(3., dtype=float32)
    """
    del autograph, jit_compile, reduce_retracing, experimental_implements
    del experimental_autograph_options, experimental_attributes
    del experimental_relax_shapes, experimental_compile
    del experimental_follow_type_hints
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    return Function(func, input_signature, static_numbers=True, finish=values_of)


def executing_eagerly() -> bool:
    """Whether Python computes with values; in a function it traces.

    >>> import replax.compat.v2 as tf
    >>> tf.executing_eagerly()
    True
    """
    return scope.current_frame() is None and not jax_compat.is_staging()
