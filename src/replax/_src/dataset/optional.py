"""A value that may not be there."""

from __future__ import annotations

from typing import Any

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.structure import Opaque

__all__ = ["Optional"]

_NOTHING = object()


class Optional(Opaque):
    """The next element of an iterator, or the fact that there is none.

    >>> import replax
    >>> found = replax.experimental.Optional.from_value(3)
    >>> bool(found.has_value()), found.get_value()
    (True, 3)
    >>> bool(replax.experimental.Optional.empty().has_value())
    False
    """

    __slots__ = ("_spec", "_value")

    def __init__(self, value: Any = _NOTHING, element_spec: Any = None) -> None:
        self._value = value
        self._spec = element_spec

    @classmethod
    def from_value(cls, value: Any) -> Optional:
        """One that has a value."""
        return cls(value)

    @classmethod
    def empty(cls, element_spec: Any = None) -> Optional:
        """One that has none."""
        return cls(element_spec=element_spec)

    @property
    def element_spec(self) -> Any:
        """What the value looks like, if it is known."""
        return self._spec() if callable(self._spec) else self._spec

    def has_value(self) -> bool:
        """Whether there is a value."""
        return self._value is not _NOTHING

    def get_value(self) -> Any:
        """The value; it stays the same while the iterator moves on.

        Raises:
          InvalidArgumentError: There is none.
        """
        if self._value is _NOTHING:
            msg = (
                "get_value of an Optional that has no value: the data is at its end; "
                "ask has_value() first"
            )
            raise InvalidArgumentError(msg)
        return self._value

    def __repr__(self) -> str:
        return f"Optional({self._value!r})" if self.has_value() else "Optional.empty()"
