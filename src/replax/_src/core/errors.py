"""The errors that Replax raises on purpose.

Each derives from :class:`ReplaxError` and from the builtin exception that a Python
programmer would catch for the same mistake.
"""

from __future__ import annotations

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


class ReplaxError(Exception):
    """Base of the errors that have no builtin equivalent.

    >>> import replax
    >>> issubclass(replax.errors.OutOfRangeError, replax.errors.ReplaxError)
    True
    """

    @property
    def message(self) -> str:
        """What came, and what to do."""
        return str(self.args[0]) if self.args else ""


class OutOfRangeError(ReplaxError, IndexError):
    """The data is at its end.

    >>> import replax
    >>> raise replax.errors.OutOfRangeError("end of data")
    Traceback (most recent call last):
        ...
    replax._src.core.errors.OutOfRangeError: end of data
    """


class InvalidArgumentError(ReplaxError, ValueError):
    """A value that this operation cannot take.

    >>> import replax
    >>> issubclass(replax.errors.InvalidArgumentError, ValueError)
    True
    """


class NotFoundError(ReplaxError, LookupError):
    """Something that was named does not exist.

    >>> import replax
    >>> issubclass(replax.errors.NotFoundError, LookupError)
    True
    """


class DataLossError(ReplaxError, OSError):
    """A record file is damaged.

    Args:
      message: What is damaged, and what to do.
      path: The file.
      record: The number of the damaged record, from 0, as far as it could be counted:
        after a damage of unknown length, counting goes on with the next number.
      offset: The byte at which the record begins, in the uncompressed data.

    >>> import replax
    >>> issubclass(replax.errors.DataLossError, OSError)
    True
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.record = record
        self.offset = offset


class UnavailableError(ReplaxError, ConnectionError):
    """A peer that this process needs is gone.

    >>> import replax
    >>> issubclass(replax.errors.UnavailableError, ConnectionError)
    True
    """


class DeadlineExceededError(ReplaxError, TimeoutError):
    """A wait ended before what it waited for.

    >>> import replax
    >>> issubclass(replax.errors.DeadlineExceededError, TimeoutError)
    True
    """


class FailedPreconditionError(ReplaxError, RuntimeError):
    """Something that has to come first has not been done.

    >>> import replax
    >>> issubclass(replax.errors.FailedPreconditionError, RuntimeError)
    True
    """


class AbortedError(ReplaxError, RuntimeError):
    """Work was given up because a part of it failed elsewhere.

    >>> import replax
    >>> issubclass(replax.errors.AbortedError, RuntimeError)
    True
    """


class UnimplementedError(ReplaxError, NotImplementedError):
    """An operation that cannot be done here, with what to do instead.

    >>> import replax
    >>> issubclass(replax.errors.UnimplementedError, NotImplementedError)
    True
    """
