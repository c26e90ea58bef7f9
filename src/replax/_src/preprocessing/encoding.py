"""Indices as vectors: one-hot, multi-hot, and counts."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from replax._src.preprocessing.arrays import (
    given_dtype,
    is_on_device,
    with_dtype,
)

__all__ = ["DROPPED", "encoded", "require_mode"]

# Is no index: no place in a vector stands for it.
DROPPED = -1

# Names that TensorFlow 1 had for them.
_OLD_NAMES = {"binary": "multi_hot", "tf-idf": "tf_idf"}


def require_mode(layer: str, mode: Any, known: tuple[str, ...]) -> str:
    """An output mode that a layer knows, by its present name."""
    mode = _OLD_NAMES.get(mode, mode)
    if mode not in known:
        names = ", ".join(f'"{name}"' for name in known)
        msg = f"output_mode of {layer} is {mode!r}; it is one of {names}"
        raise ValueError(msg)
    return mode


def encoded(
    indices: Any, mode: str, depth: int, dtype: np.dtype, weights: Any = None
) -> Any:
    """What a layer gives for the indices of its inputs.

    Args:
      indices: Whole numbers below ``depth``, or ``DROPPED``.
      mode: ``"int"`` for themselves; ``"one_hot"`` for a vector in place of each;
        ``"multi_hot"`` or ``"count"`` for one in place of all along the last axis.
      depth: How long the vectors are.
      dtype: Of what is returned.
      weights: How much each index counts, for ``"count"``.
    """
    if mode == "int":
        return with_dtype(indices, dtype)
    if indices.ndim == 0:
        indices = indices.reshape(1)
    if mode == "one_hot":
        if indices.ndim > 1 and indices.shape[-1] == 1:
            indices = indices.reshape(indices.shape[:-1])
        # One along an axis of one is one by itself.
        indices = indices.reshape((*indices.shape, 1))
        mode = "multi_hot"
    if is_on_device(indices):
        return _on_device(indices, mode, depth, dtype, weights)
    return _on_host(indices, mode, depth, dtype, weights)


def _on_host(
    indices: np.ndarray, mode: str, depth: int, dtype: np.dtype, weights: Any
) -> np.ndarray:
    shape = (*indices.shape[:-1], depth)
    rows = int(np.prod(shape[:-1]))
    starts = np.arange(rows).reshape((*shape[:-1], 1)) * depth
    places = starts + indices
    kept = indices != DROPPED
    if not kept.all():
        places = places[kept]
        weights = None if weights is None else weights[kept]
    if mode == "count":
        if weights is not None:
            weights = weights.ravel()
        counts = np.bincount(places.ravel(), weights, rows * depth)
        return counts.astype(dtype).reshape(shape)
    vectors = np.zeros(shape, dtype)
    vectors.reshape(-1)[places.ravel()] = 1
    return vectors


def _on_device(
    indices: Any, mode: str, depth: int, dtype: np.dtype, weights: Any
) -> Any:
    dtype = given_dtype(indices, dtype)
    # An index that is none of 0 ... depth - 1, such as DROPPED, gives zeros.
    vectors = jax.nn.one_hot(indices, depth, dtype=dtype)
    if mode == "multi_hot":
        return vectors.max(axis=-2)
    if weights is not None:
        vectors = vectors * weights[..., None]
    return vectors.sum(axis=-2, dtype=dtype)
