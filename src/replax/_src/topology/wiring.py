"""How replicas of several processes are connected."""

from __future__ import annotations

import dataclasses

__all__ = ["Wiring"]


@dataclasses.dataclass(frozen=True)
class Wiring:
    """What a sum over the replicas of several processes is made of.

    Attributes:
      processes: How many processes there are, with equally many replicas each: replica
        ``i`` is of process ``i // (num_replicas // processes)``.
      bytes_per_pack: Up to how many bytes are sent as one; 0 to choose by itself.
      is_composed: Whether sums are composed of exchanges between processes, as is best
        between CPU hosts, or left to XLA.
    """

    processes: int
    bytes_per_pack: int = 0
    is_composed: bool = True
