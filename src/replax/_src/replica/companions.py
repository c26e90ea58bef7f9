"""Libraries that have to know whose scope the code is in.

A library such as Keras makes variables and runs steps of its own. What makes it do so
for a strategy is a companion: it stands in a layer above, registers itself here when it
is imported, and is told of scopes and of steps.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from typing import Any, Protocol

from replax._src.replica.scope import Place

__all__ = ["Companion", "entered", "register", "set_installed", "stepping"]


class Companion(Protocol):
    """What makes a library work for the strategy whose scope it is."""

    def scope(self, place: Place) -> contextlib.AbstractContextManager[None]:
        """Entered and left together with a strategy's scope."""
        ...

    def step(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What is called on each replica in place of the function given to ``run``."""
        ...


_companions: list[Companion] = []


class _Installed(threading.local):
    def __init__(self) -> None:
        self.scopes = contextlib.ExitStack()


_installed = _Installed()


def register(companion: Companion) -> None:
    """Tells a companion of all scopes and steps from now on."""
    _companions.append(companion)


@contextlib.contextmanager
def entered(place: Place) -> Generator[None]:
    """A strategy's scope, as the companions make it."""
    with contextlib.ExitStack() as stack:
        for companion in _companions:
            stack.enter_context(companion.scope(place))
        yield


def set_installed(place: Place | None) -> None:
    """Makes a scope hold for the rest of the thread, or ends the one that did."""
    _installed.scopes.close()
    if place is not None:
        _installed.scopes.enter_context(entered(place))


def stepping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A step, as the companions want it to be called on each replica."""
    for companion in _companions:
        function = companion.step(function)
    return function
