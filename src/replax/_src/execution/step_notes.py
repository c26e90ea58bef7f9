"""What is added to errors of a step that do not say what they come of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from replax._src.topology.topology import REPLICA_AXIS

__all__ = ["note_no_rows", "note_unbound_axis"]

_NO_ROWS = (
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
        error.add_note(_NO_ROWS)


def note_unbound_axis(error: NameError) -> None:
    """Adds to JAX's error about an axis where the replicas' axis is to be had."""
    if f"axis name: {REPLICA_AXIS}" in str(error):
        error.add_note(
            f"(operations of jax.lax over the axis {REPLICA_AXIS!r} work in compiled "
            f"steps: wrap what calls strategy.run in replax.function, or use "
            f"all_reduce and all_gather of get_replica_context(), which work in both)"
        )
