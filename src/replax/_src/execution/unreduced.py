"""Assignments without aggregation: the replicas have to agree on the value."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence

import jax
import numpy as np

from replax._src.cluster.agreement import Agreement, written
from replax._src.core import host
from replax._src.values.storage import Leaves
from replax._src.values.variable import Variable

__all__ = ["Unreduced", "require_equal", "unreduced_error"]


@dataclasses.dataclass(frozen=True)
class Unreduced:
    """What one replica of an eager run has assigned.

    Attributes:
      variable: To what.
      leaves: The value.
      where: The line of the assignment.
    """

    variable: Variable
    leaves: Leaves
    where: str


def require_equal(
    noted: Sequence[Sequence[Unreduced]], agreement: Agreement | None = None
) -> None:
    """Refuses an eager run whose replicas have assigned different values.

    Args:
      noted: For each local replica what it assigned, in order.
      agreement: How to ask the other processes; None if there are none.
    """
    counts = {len(assignments) for assignments in noted}
    for row in zip(*noted, strict=False):
        first = row[0]
        for index, other in enumerate(row[1:], 1):
            if other.variable is not first.variable or not all(
                map(_equal, first.leaves, other.leaves)
            ):
                raise unreduced_error(
                    first.variable.name,
                    first.where,
                    f"replica 0 and replica {index} differ",
                )
    if len(counts) > 1:
        longest = max(noted, key=len)
        extra = longest[min(counts)]
        raise unreduced_error(
            extra.variable.name, extra.where, "only some of the replicas assign it"
        )
    if agreement is not None and noted[0]:
        _require_equal_elsewhere(noted[0], agreement)


def _require_equal_elsewhere(noted: Sequence[Unreduced], agreement: Agreement) -> None:
    """Compares digests of what this process assigned with those of the others."""
    kinds = [(u.variable.name, f"{len(u.leaves)} arrays") for u in noted]
    mine = [_digest(u.leaves) for u in noted]
    told = agreement.exchange(written("assigning", kinds), json.dumps(mine))
    for rank, text in enumerate(told):
        for one, other, assigned in zip(mine, json.loads(text), noted, strict=True):
            if one != other:
                raise unreduced_error(
                    assigned.variable.name,
                    assigned.where,
                    f"the replicas of rank {agreement.coordination.rank} and of rank "
                    f"{rank} differ",
                )


def _digest(leaves: Leaves) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for leaf in leaves:
        digest.update(host.to_numpy(leaf).tobytes())
    return digest.hexdigest()


def _equal(mine: jax.Array, theirs: jax.Array) -> bool:
    a, b = host.to_numpy(mine), host.to_numpy(theirs)
    # NaNs are equal by their bits, for which the arrays are copied.
    return np.array_equal(a, b) or a.tobytes() == b.tobytes()


def unreduced_error(name: str, where: str, how: str) -> ValueError:
    """The error for a step that makes the copies of a variable drift apart."""
    return ValueError(
        f"variable {name!r} has no aggregation, and the replicas assign values that "
        f"are not the same ({where}: {how}), so its copies would drift apart. Either "
        f"bring the value together first, e.g. "
        f"replax.distribute.get_replica_context().all_reduce('MEAN', value), or create "
        f"the variable with aggregation=VariableAggregation.MEAN (or SUM, "
        f"ONLY_FIRST_REPLICA)"
    )
