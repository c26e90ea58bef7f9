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
        "resolvers",
        "run",
        "scope",
        "specs",
        "tfdata",
        "v1",
        "variables",
    }
)

AREAS_TO_COME: dict[str, str] = {}


def why_not(case: Case) -> str | None:
    """Why the case is not expected to pass yet; None if it is."""
    return AREAS_TO_COME.get(case.area)
