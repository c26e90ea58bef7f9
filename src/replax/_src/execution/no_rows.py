"""What is said where a step fails on a replica that has no rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["note_no_rows"]

_NOTE = (
    "(raised on a replica that has no rows at this step, as at the end of the data: "
    "write what also takes arrays of 0 rows, such as sums divided by the number of "
    "rows of all replicas, or jnp.max with initial=; or leave short batches out with "
    "batch(n, drop_remainder=True))"
)


def note_no_rows(error: BaseException, inputs: Iterable[Any]) -> None:
    """Adds to an error that it may come of what the replica does not have.

    Args:
      error: What the step raised.
      inputs: The arrays that the replica has of its own, or their types.
    """
    shapes = [tuple(getattr(value, "shape", ())) for value in inputs]
    if any(shape and shape[0] == 0 for shape in shapes):
        error.add_note(_NOTE)
