"""Matrices and vectors."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from replax._src.compat.conversion import convert_to_tensor, operands, tensors

__all__ = ["det", "diag", "diag_part", "einsum", "inv", "matvec", "norm", "tensordot"]


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Any:
    """The length of vectors.

    Args:
      tensor: A vector, or several.
      ord: ``"euclidean"``, 1, 2 or infinity.
      axis: Along which dimension a vector is, or two for matrices; by default all
        elements are one vector.
      keepdims: Whether these dimensions stay, with length 1.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.norm([3.0, 4.0])
    Array(5., dtype=float32)
    """
    del name
    array = convert_to_tensor(tensor)
    order = None if ord == "euclidean" else ord
    if axis is not None:
        axes = tuple(axis) if isinstance(axis, (list, tuple)) else axis
        return jnp.linalg.norm(array, order, axes, keepdims)
    length = jnp.linalg.norm(array.reshape(-1), order)
    return length.reshape((1,) * array.ndim) if keepdims else length


def matvec(a: Any, b: Any, transpose_a: bool = False, name: str | None = None) -> Any:
    """The product of a matrix and a vector.

    >>> import replax.compat.v2 as tf
    >>> tf.linalg.matvec([[1.0, 2.0]], [3.0, 4.0])
    Array([11.], dtype=float32)
    """
    del name
    matrix, vector = operands(a, b)
    matrix = jnp.swapaxes(matrix, -1, -2) if transpose_a else matrix
    return jnp.matmul(matrix, vector[..., None])[..., 0]


def einsum(equation: str, *inputs: Any, name: str | None = None) -> Any:
    """Products and sums, as a formula says.

    >>> import replax.compat.v2 as tf
    >>> tf.einsum("i,i->", [1.0, 2.0], [3.0, 4.0])
    Array(11., dtype=float32)
    """
    del name
    return jnp.einsum(equation, *tensors(inputs))


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """The sum of products over dimensions of both.

    >>> import replax.compat.v2 as tf
    >>> tf.tensordot([1.0, 2.0], [3.0, 4.0], axes=1)
    Array(11., dtype=float32)
    """
    del name
    x, y = operands(a, b)
    return jnp.tensordot(x, y, axes)


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverse of a matrix.

    >>> import replax.compat.v2 as tf
    >>> tf.linalg.inv([[2.0]])
    Array([[0.5]], dtype=float32)
    """
    del name
    inverse = jnp.linalg.inv(convert_to_tensor(input))
    return jnp.conj(jnp.swapaxes(inverse, -1, -2)) if adjoint else inverse


def det(input: Any, name: str | None = None) -> Any:
    """The determinant of a matrix.

    >>> import replax.compat.v2 as tf
    >>> tf.linalg.det([[2.0]])
    Array(2., dtype=float32)
    """
    del name
    return jnp.linalg.det(convert_to_tensor(input))


def diag(diagonal: Any, name: str = "diag") -> Any:
    """A matrix with these elements on its diagonal, and zeros elsewhere.

    >>> import replax.compat.v2 as tf
    >>> tf.linalg.diag([1, 2])
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    del name
    array = convert_to_tensor(diagonal)
    return array[..., None] * jnp.eye(array.shape[-1], dtype=array.dtype)


def diag_part(input: Any, name: str = "diag_part") -> Any:
    """The elements on the diagonal of a matrix.

    >>> import replax.compat.v2 as tf
    >>> tf.linalg.diag_part([[1, 2], [3, 4]])
    Array([1, 4], dtype=int32)
    """
    del name
    return jnp.diagonal(convert_to_tensor(input), axis1=-2, axis2=-1)
