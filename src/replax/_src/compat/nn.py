"""``tf.nn``: what training steps on strategies use of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from replax._src.compat.conversion import convert_to_tensor, operands
from replax._src.compat.reductions import reduce_sum
from replax._src.strategies.current import get_replica_context, get_strategy

__all__ = [
    "compute_average_loss",
    "log_softmax",
    "relu",
    "scale_regularization_loss",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
]


def compute_average_loss(
    per_example_loss: Any,
    sample_weight: Any = None,
    global_batch_size: Any = None,
) -> Any:
    """A replica's part of the mean loss: its sum, divided by the global batch size.

    The sum of these parts over the replicas is the mean over the batch.

    Args:
      per_example_loss: The loss of each of the replica's examples.
      sample_weight: What to multiply them with.
      global_batch_size: How many examples all replicas have together; if it is not
        given, as many times this replica's as there are replicas, which is wrong for a
        last batch that does not divide.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.compute_average_loss([1.0, 3.0], global_batch_size=8)
    Array(0.5, dtype=float32)
    """
    losses = convert_to_tensor(per_example_loss)
    if not losses.ndim:
        msg = (
            f"per_example_loss is the single number {losses!r}; give the losses of the "
            f"examples, which a loss with reduction='none' has"
        )
        raise ValueError(msg)
    if sample_weight is not None:
        losses, weights = operands(losses, sample_weight)
        extra = (1,) * (losses.ndim - weights.ndim)
        losses = losses * weights.reshape(weights.shape + extra)
    if global_batch_size is None:
        context = get_replica_context()
        if context is None:
            msg = (
                "compute_average_loss between steps, without a global_batch_size; give "
                "it, or call the function in a step given to strategy.run"
            )
            raise RuntimeError(msg)
        global_batch_size = losses.shape[0] * context.num_replicas_in_sync
    return reduce_sum(losses) / jnp.asarray(global_batch_size, losses.dtype)


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """A replica's part of a loss that is the same on all: divided by their number.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.scale_regularization_loss([1.0, 3.0])
    Array(4., dtype=float32)
    """
    total = reduce_sum(regularization_loss)
    return total / jnp.asarray(get_strategy().num_replicas_in_sync, total.dtype)


def relu(features: Any, name: str | None = None) -> Any:
    """The larger of each element and 0.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.relu([-1.0, 2.0])
    Array([0., 2.], dtype=float32)
    """
    del name
    return jax.nn.relu(convert_to_tensor(features))


def softmax(logits: Any, axis: int = -1, name: str | None = None) -> Any:
    """Exponentials, divided by their sum along an axis.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.softmax([0.0, 0.0])
    Array([0.5, 0.5], dtype=float32)
    """
    del name
    return jax.nn.softmax(convert_to_tensor(logits), axis)


def log_softmax(logits: Any, axis: int = -1, name: str | None = None) -> Any:
    """The logarithm of :func:`softmax`.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.log_softmax([0.0, 0.0]).round(2)
    Array([-0.69, -0.69], dtype=float32)
    """
    del name
    return jax.nn.log_softmax(convert_to_tensor(logits), axis)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Any:
    """The cross entropy of each row with a row of probabilities.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, 0.0]]).round(2)
    Array([0.69], dtype=float32)
    """
    probabilities, scores = operands(labels, logits)
    return -(probabilities * log_softmax(scores, axis, name)).sum(axis)


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """The cross entropy of each row with the number of a class.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]]).round(2)
    Array([0.69], dtype=float32)
    """
    classes = convert_to_tensor(labels)
    rows = log_softmax(logits, name=name)
    return -jnp.take_along_axis(rows, classes[..., None], axis=-1)[..., 0]


def sigmoid_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """The cross entropy of each element with a probability.

    >>> import replax.compat.v2 as tf
    >>> tf.nn.sigmoid_cross_entropy_with_logits([1.0], [0.0]).round(2)
    Array([0.69], dtype=float32)
    """
    del name
    probabilities, scores = operands(labels, logits)
    positive, negative = jax.nn.log_sigmoid(scores), jax.nn.log_sigmoid(-scores)
    return -(probabilities * positive + (1 - probabilities) * negative)
