"""Which strategy is the current one."""

from __future__ import annotations

import functools
from typing import Any, final

from replax._src.replica import companions, scope
from replax._src.replica.replica_context import ReplicaContext
from replax._src.strategies.strategy import Strategy
from replax._src.topology.topology import Topology

__all__ = [
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


@final
class DefaultStrategy(Strategy):
    """What is current outside of every scope: one replica, nothing distributed."""

    def __init__(self) -> None:
        super().__init__(Topology.of_default_device(), is_default=True)

    def replica_context(self) -> ReplicaContext:
        """The only replica, for code that no strategy runs: a step of its own."""
        return self._only_replica()


@functools.cache
def _default_strategy() -> DefaultStrategy:
    return DefaultStrategy()


def get_strategy() -> Strategy:
    """The current strategy; outside of every scope the default one.

    >>> import replax
    >>> replax.distribute.get_strategy().num_replicas_in_sync
    1
    """
    here = scope.current()
    return _default_strategy() if here is None else here.strategy


def has_strategy() -> bool:
    """Whether the code runs in the scope of a strategy other than the default one.

    >>> import replax
    >>> replax.distribute.has_strategy()
    False
    """
    here = scope.current()
    return here is not None and not here.is_default


# Nearly all calls are in a step, where there is a context: a type that says "or None"
# would make every one of them a check.
def get_replica_context() -> ReplicaContext | Any:
    """The replica that the code runs on; None between steps in a strategy's scope.

    Outside of every scope it is the only replica of the default strategy.

    >>> import replax
    >>> replax.distribute.get_replica_context().num_replicas_in_sync
    1
    """
    here = scope.current()
    return _default_strategy().replica_context() if here is None else here.replica


def in_cross_replica_context() -> bool:
    """Whether the code runs in a strategy's scope, but not in a step.

    >>> import replax
    >>> replax.distribute.in_cross_replica_context()
    False
    """
    here = scope.current()
    return here is not None and here.replica is None


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Makes a strategy current for the rest of the thread, without a ``with`` block.

    Args:
      strategy: The strategy, or None to return to the default one.

    >>> import replax
    >>> replax.distribute.experimental_set_strategy(None)
    """
    if scope.is_inside():
        msg = (
            "experimental_set_strategy inside of a strategy's scope; leave the "
            "`with strategy.scope():` block first"
        )
        raise RuntimeError(msg)
    if strategy is not None and not isinstance(strategy, Strategy):
        given: Any = strategy
        msg = f"{given!r} is not a strategy; give a Strategy, or None"
        raise TypeError(msg)
    place = None if strategy is None else strategy.place
    place = None if place is None or place.is_default else place
    scope.set_installed(place)
    companions.set_installed(place)
