"""What one detector says."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from replax._src.cluster.resolver import ClusterResolver

__all__ = ["Verdict"]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a detector found.

    Attributes:
      name: The detector, as people call what it looks for: ``"Slurm"``.
      why: What it went by, or why it declined.
      variables: The variables of its kind that are set.
      resolver: The cluster; None if it declined.
    """

    name: str
    why: str
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    resolver: ClusterResolver | None = None
