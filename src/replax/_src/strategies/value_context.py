"""What a function that makes per-replica values is told."""

from __future__ import annotations

import dataclasses

__all__ = ["ValueContext"]


@dataclasses.dataclass(frozen=True)
class ValueContext:
    """For which replica a value is made.

    Args:
      replica_id_in_sync_group: The replica.
      num_replicas_in_sync: How many there are.

    >>> from replax.distribute.experimental import ValueContext
    >>> ValueContext(replica_id_in_sync_group=1, num_replicas_in_sync=4)
    ValueContext(replica_id_in_sync_group=1, num_replicas_in_sync=4)
    """

    replica_id_in_sync_group: int = 0
    num_replicas_in_sync: int = 1
