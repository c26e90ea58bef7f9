"""How values of several replicas become one."""

from __future__ import annotations

import enum

__all__ = ["ReduceOp"]


class ReduceOp(enum.Enum):
    """Sum or mean over replicas.

    Wherever a ``ReduceOp`` is taken, its name in any case is taken too.

    >>> from replax.distribute import ReduceOp
    >>> ReduceOp.of("sum") is ReduceOp.SUM
    True
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def of(cls, op: ReduceOp | str) -> ReduceOp:
        """The member that ``op`` names; anything else is a ValueError."""
        if isinstance(op, cls):
            return op
        if isinstance(op, str) and op.upper() in cls.__members__:
            return cls[op.upper()]
        msg = (
            f"{op!r} is not a way to reduce; give ReduceOp.SUM, ReduceOp.MEAN or one "
            f"of the strings 'SUM' and 'MEAN' (in any case)"
        )
        raise ValueError(msg)
