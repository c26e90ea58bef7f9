"""Which cases Replax is expected to pass, and why the others have to wait.

An area is a folder of ``cases/``. A case runs when its area is in ``AREAS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.case_file import Case

AREAS = frozenset(
    {
        "autoshard",
        "from_function",
        "function",
        "gather_values",
        "guide",
        "one_device",
        "partial",
        "rebatch",
        "reduce",
        "replica_context",
        "run",
        "scope",
        "specs",
        "tfdata",
        "variables",
    }
)

AREAS_TO_COME = {
    "checkpoint": "needs replax.train.Checkpoint",
    "resolvers": "needs cluster resolvers",
    "v1": "needs replax.compat.v1",
}


def why_not(case: Case) -> str | None:
    """Why the case is not expected to pass yet; None if it is."""
    return AREAS_TO_COME.get(case.area)
