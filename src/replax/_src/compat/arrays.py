"""What the facades change in JAX when they are imported.

Nothing else does: Replax itself leaves JAX as it is.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from replax._src.core.jax_compat import ArrayClass
from replax._src.values.variable import Variable

__all__ = ["Tensor", "is_tensor"]

Tensor = jax.Array


def is_tensor(x: Any) -> bool:
    """Whether ``x`` is an array, traced or not, a string array, or a variable.

    >>> import replax.compat.v2 as tf
    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
    (True, False)
    """
    return isinstance(x, (jax.Array, np.ndarray, Variable))


def _numpy(self: jax.Array) -> Any:
    """The value on the host: a NumPy array, or a NumPy number if it has no axes."""
    return np.array(self)[()]


jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - how JAX is told
ArrayClass.numpy = _numpy
