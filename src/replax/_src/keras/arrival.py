"""Keras as a companion of strategies, from the moment on that it is there.

Importing Replax does not import Keras. If Keras has been imported when a scope is
entered, what makes it work for strategies is loaded then. If it has not, the scope
watches for its import, which may come from code in the scope. A program that has
datasets may give them to models without any scope, so that it watches to its end.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from replax._src.replica import companions
from replax._src.replica.scope import Place

__all__ = ["expect"]

_KERAS = "keras"


class _Open(threading.local):
    """The scopes that this thread is in, with what Keras has been told for each."""

    def __init__(self) -> None:
        self.scopes: list[tuple[Place, contextlib.ExitStack]] = []


_open = _Open()


class _Keras:
    """Keras as a companion."""

    @contextlib.contextmanager
    def scope(self, place: Place) -> Generator[None]:
        """Lets Keras make its variables on the strategy's replicas."""
        with contextlib.ExitStack() as stack:
            _open.scopes.append((place, stack))
            stack.callback(_open.scopes.pop)
            if _KERAS in sys.modules:
                stack.enter_context(_presence().scope(place))
            elif _watch not in sys.meta_path:
                sys.meta_path.insert(0, _watch)
                stack.callback(_watch.end)
            yield

    def step(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Lets Keras's variables be those of the replica that runs the step."""
        return _presence().step(function) if _KERAS in sys.modules else function


class _Watch(importlib.abc.MetaPathFinder):
    """Sees the import of Keras, which others do."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Keras's spec, whose loader tells us when it is done; None for all else."""
        del path, target
        if fullname != _KERAS:
            return None
        self.end()
        spec = importlib.util.find_spec(_KERAS)
        if spec is not None and spec.loader is not None:
            _tell(spec.loader)
        return spec

    def end(self) -> None:
        """Watches no more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


_watch = _Watch()


def _tell(loader: Any) -> None:
    """Makes a loader, once, say that its module is there."""
    load = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        load(module)
        _presence()
        for place, stack in _open.scopes:
            stack.enter_context(_presence().scope(place))

    loader.exec_module = exec_module


def expect() -> None:
    """Makes models of Keras take datasets of Replax, in scopes and without."""
    if _KERAS in sys.modules:
        _presence()
    elif _watch not in sys.meta_path:
        sys.meta_path.insert(0, _watch)


def _presence() -> Any:
    """What makes Keras work for strategies; it imports Keras."""
    return importlib.import_module("replax._src.keras.presence")


companions.register(_Keras())
