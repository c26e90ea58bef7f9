"""Arrays of the host and of devices, which the layers take alike."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["given_dtype", "is_on_device", "module_of", "with_dtype"]


def is_on_device(value: Any) -> bool:
    """Whether a value is an array of JAX's, or one that is being traced."""
    return isinstance(value, jax.Array)


def module_of(value: Any) -> Any:
    """The module with the functions for a value: ``jax.numpy``, or NumPy."""
    return jnp if is_on_device(value) else np


def given_dtype(value: Any, dtype: np.dtype) -> np.dtype:
    """The dtype a result has: on devices 64 bits may not be switched on."""
    return jax.dtypes.canonicalize_dtype(dtype) if is_on_device(value) else dtype


def with_dtype(value: Any, dtype: np.dtype) -> Any:
    """The array in a dtype, or in the one of 32 bits that stands for it on devices."""
    return value.astype(given_dtype(value, dtype), copy=False)
