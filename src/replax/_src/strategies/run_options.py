"""Options of one run."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["RunOptions"]


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """Options for ``strategy.run``.

    Args:
      experimental_enable_dynamic_batch_size: Accepted; steps of any size are compiled
        exactly, without padding that they could see.
      experimental_bucketizing_dynamic_shape: Accepted, for the same reason.
      experimental_xla_options: Accepted.
      may_diverge: Lets replicas assign values that are not the same to variables
        without an aggregation, whose copies then drift apart.

    >>> import replax
    >>> replax.distribute.RunOptions().may_diverge
    False
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None
    may_diverge: bool = False
