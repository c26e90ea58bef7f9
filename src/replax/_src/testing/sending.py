"""How a function gets into another Python."""

from __future__ import annotations

import functools
import importlib.machinery
import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import cloudpickle

__all__ = ["packed"]

# What cloudpickle is told about modules, it is told for all threads.
_lock = threading.Lock()


def packed(function: Callable[..., Any], arguments: Sequence[Any]) -> bytes:
    """The function and its arguments, for the program in child.py.

    A function of a module that the other Python can import is sent as its name; others,
    with what they use of their module.

    Raises:
      TypeError: It cannot be pickled.
    """
    module = _module_of(function)
    with _lock:
        by_value = module is not None and _is_sent(module)
        if by_value:
            cloudpickle.register_pickle_by_value(module)
        try:
            body = cloudpickle.dumps((function, tuple(arguments)))
        except Exception as error:
            raise TypeError(
                f"the function {name_of(function)} cannot be pickled to be sent to "
                f"other processes ({type(error).__name__}: {error}); make in the "
                f"function what cannot be pickled (open files, locks, devices), or "
                f"hand over what it is made from"
            ) from error
        finally:
            if by_value:
                cloudpickle.unregister_pickle_by_value(module)
    return pickle.dumps((sys.path, body))


def name_of(function: Callable[..., Any]) -> str:
    """How to call a user's function in an error."""
    function = _inner(function)
    return getattr(function, "__qualname__", type(function).__qualname__)


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _module_of(function: Callable[..., Any]) -> ModuleType | None:
    name = getattr(_inner(function), "__module__", None)
    return sys.modules.get(name) if isinstance(name, str) else None


def _is_sent(module: ModuleType) -> bool:
    """Whether a module is to be sent by what it is made of, and is not anyway."""
    registered = cloudpickle.list_registry_pickle_by_value()
    return module.__name__ not in registered and not _can_import(module)


def _can_import(module: ModuleType) -> bool:
    """Whether another Python with our search path finds the same module by its name."""
    # Asserts that pytest has rewritten say what they have compared. Imported, they
    # would not.
    if "@pytest_ar" in vars(module):
        return False
    origin, path, spec = getattr(module, "__file__", None), None, None
    parts = module.__name__.split(".")
    for count in range(1, len(parts) + 1):
        spec = _found(".".join(parts[:count]), path)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    if origin is None or spec is None or spec.origin is None:
        return origin is None and spec is not None
    return os.path.realpath(origin) == os.path.realpath(spec.origin)


def _found(
    name: str, path: Sequence[str] | None
) -> importlib.machinery.ModuleSpec | None:
    # `importlib.util.find_spec` would answer from `sys.modules`.
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None
