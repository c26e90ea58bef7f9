"""Losses, and functions in models."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.arithmetic import sigmoid, tanh
from replax._src.compat.nn import (
    compute_average_loss,
    log_softmax,
    relu,
    scale_regularization_loss,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from replax._src.core.loading import loaded_later as _loaded_later

__all__ = [
    "compute_average_loss",
    "log_softmax",
    "relu",
    "scale_regularization_loss",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
