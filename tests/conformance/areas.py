"""Which cases Replax is expected to pass, and why the others have to wait.

An area is a folder of ``cases/``. A case runs when its area is in ``AREAS`` and nothing
below names it; what is named below is taken out as soon as its reason is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.case_file import Case

AREAS = frozenset(
    {
        "function",
        "gather_values",
        "one_device",
        "reduce",
        "replica_context",
        "run",
        "scope",
        "variables",
    }
)

DATASETS = "needs replax.data"
WORKERS = "needs strategies for several workers"

AREAS_TO_COME = {
    "autoshard": DATASETS,
    "checkpoint": "needs replax.train.Checkpoint",
    "from_function": DATASETS,
    "guide": DATASETS,
    "partial": DATASETS,
    "rebatch": DATASETS,
    "resolvers": "needs cluster resolvers",
    "specs": DATASETS,
    "tfdata": DATASETS,
    "v1": "needs replax.compat.v1 and datasets",
}

CASES_TO_COME = {
    "gather_values/gather_across_workers": WORKERS,
    "gather_values/gather_uneven_batches": DATASETS,
    "one_device/element_spec_signature": DATASETS,
    "one_device/end_of_data": DATASETS,
    "one_device/from_function": DATASETS,
    "one_device/switching_strategies": DATASETS,
    "reduce/across_workers": WORKERS,
    "reduce/docs_eight_over_two": DATASETS,
    "reduce/mean_of_integers": DATASETS,
    "replica_context/all_gather_across_workers": WORKERS,
    "replica_context/replicas_see_their_own_data": DATASETS,
    "run/captured_tensors": DATASETS,
    "run/lambda_inside_function": DATASETS,
    "scope/no_more_transformations": DATASETS,
    "variables/initial_value_from_worker_zero": WORKERS,
    "variables/mirrored_across_workers": WORKERS,
    "variables/on_read_across_workers": WORKERS,
    "variables/on_read_integer_sum": DATASETS,
    "variables/replica_assign_in_function": DATASETS,
    "variables/training_step": DATASETS,
}


def why_not(case: Case) -> str | None:
    """Why the case is not expected to pass yet; None if it is."""
    if case.area in AREAS:
        return CASES_TO_COME.get(case.name)
    return AREAS_TO_COME[case.area]
