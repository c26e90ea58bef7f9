"""When copies of a variable are brought together, and how."""

from __future__ import annotations

import enum

__all__ = ["VariableAggregation", "VariableSynchronization"]


class VariableSynchronization(enum.Enum):
    """When the copies of a variable are made equal.

    >>> import replax
    >>> replax.VariableSynchronization.ON_READ.value
    3
    """

    AUTO = 0
    """The strategy decides: on every write."""
    NONE = 1
    """Never; no strategy here has such variables."""
    ON_WRITE = 2
    """At every assignment: all copies are always equal."""
    ON_READ = 3
    """When it is read outside of a step; inside each replica has its own."""


class VariableAggregation(enum.Enum):
    """How values that replicas assign become one.

    >>> import replax
    >>> replax.VariableAggregation.MEAN.value
    2
    """

    NONE = 0
    """Not at all: replicas have to assign equal values."""
    SUM = 1
    """Their sum."""
    MEAN = 2
    """Their mean."""
    ONLY_FIRST_REPLICA = 3
    """The value of the first replica of all."""
