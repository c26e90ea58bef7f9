"""What is taken as a whole where a nest of values is taken apart."""

from __future__ import annotations

__all__ = ["Handle", "is_handle"]


class Handle:
    """Base of per-replica values and variables: leaves of what is given to a run."""

    __slots__ = ()


# Whether a value is a Handle: a bound method in C, for JAX asks it of every node.
is_handle = Handle.__instancecheck__
