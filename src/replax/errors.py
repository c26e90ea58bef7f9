"""Errors that Replax raises on purpose."""

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

__all__ = [
    "AbortedError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InvalidArgumentError",
    "NotFoundError",
    "OutOfRangeError",
    "ReplaxError",
    "UnavailableError",
    "UnimplementedError",
]
