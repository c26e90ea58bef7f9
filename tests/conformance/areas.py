"""Which cases Replax is expected to pass, and why the others have to wait.

An area is a folder of ``cases/``. A case runs when its area is in ``AREAS`` and it
wants one worker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.case_file import Case

AREAS = frozenset(
    {
        "autoshard",
        "checkpoint",
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
        "v1",
        "variables",
    }
)

WORKERS = "needs strategies for several workers"

AREAS_TO_COME = {
    "resolvers": "needs cluster resolvers",
}


def why_not(case: Case) -> str | None:
    """Why the case is not expected to pass yet; None if it is."""
    if case.workers > 1:
        return WORKERS
    return AREAS_TO_COME.get(case.area)
