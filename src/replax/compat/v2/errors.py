"""Errors, with TensorFlow's name for what they have in common."""

from replax._src.core.errors import (
    AbortedError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    ReplaxError,
    UnavailableError,
    UnimplementedError,
)
from replax._src.core.errors import ReplaxError as OpError

__all__ = [
    "AbortedError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "ReplaxError",
    "UnavailableError",
    "UnimplementedError",
]
