"""How values of several replicas become one."""

from __future__ import annotations

import enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["ReduceOp", "mean_dtype"]

_SMALL = 2


class ReduceOp(enum.Enum):
    """Sum or mean over replicas.

    Wherever a ``ReduceOp`` is taken, its name in any case is taken too.

    >>> from replax.distribute import ReduceOp
    >>> ReduceOp.of("sum") is ReduceOp.SUM
    True
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def of(cls, op: ReduceOp | str) -> ReduceOp:
        """The member that ``op`` names; anything else is a ValueError."""
        if isinstance(op, cls):
            return op
        if isinstance(op, str) and op.upper() in cls.__members__:
            return cls[op.upper()]
        msg = (
            f"{op!r} is not a way to reduce; give ReduceOp.SUM, ReduceOp.MEAN or one "
            f"of the strings 'SUM' and 'MEAN' (in any case)"
        )
        raise ValueError(msg)


def mean_dtype(dtype: Any) -> np.dtype[Any]:
    """What the mean of values of a dtype is: of whole numbers it is a real one."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return np.dtype(dtype)
    small = np.dtype(dtype).itemsize <= _SMALL
    return jax.dtypes.canonicalize_dtype(np.float32 if small else np.float64)
