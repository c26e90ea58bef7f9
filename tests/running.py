"""The two forms of a run, for tests of what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import replax
from replax.distribute import ReplicaContext, Strategy, get_replica_context

Runner = Callable[..., Any]


def eagerly(strategy: Strategy, step: Callable[..., Any], *args: Any) -> Any:
    """The run as Python, once for each replica."""
    return strategy.run(step, args)


def compiled(strategy: Strategy, step: Callable[..., Any], *args: Any) -> Any:
    """The run as one program."""
    return replax.function(lambda *a: strategy.run(step, a))(*args)


def context() -> ReplicaContext:
    """The running replica."""
    here = get_replica_context()
    assert here is not None
    return here


def replica() -> Any:
    """The number of the running replica, also while it is traced."""
    return context().replica_id_in_sync_group


def parts(strategy: Strategy, value: Any) -> list[Any]:
    """What each replica has of a value, on the host."""
    return [np.asarray(v).tolist() for v in strategy.experimental_local_results(value)]
