"""What a function closes over: the part of its meaning that is not in its code.

A lambda or a nested function that is made anew for each step is the same program if its
code, its defaults and the plain values it closes over are the same. Arrays that it
closes over are inputs of the program, whatever they hold now.
"""

from __future__ import annotations

import dataclasses
import enum
import operator
import types
import weakref
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from replax._src.core import host
from replax._src.values.distributed import PerReplica
from replax._src.values.variable import Variable

__all__ = ["Captures"]

# Containers larger than this are data, compared by identity.
_MAX_ITEMS = 256
_MAX_DEPTH = 6
_SMALL = 64


@dataclasses.dataclass(slots=True)
class Captures:
    """The contents of a function's closure and of the globals it names.

    Attributes:
      token: The same object for functions that are the same program.
      arrays: Arrays and per-replica values that it closes over.
    """

    token: Token
    arrays: list[Any]
    _cells: list[tuple[types.CellType, Any]]
    _globals: list[tuple[dict[str, Any], str, Any]]
    _lists: list[tuple[list[Any], tuple[Any, ...]]]
    _dicts: list[tuple[dict[Any, Any], tuple[Any, ...]]]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Captures:
        """Looks through a function."""
        walk = _Walk()
        key = walk.function(function, 0)
        return cls(
            _token(key), walk.arrays, walk.cells, walk.globals, walk.lists, walk.dicts
        )

    def still_hold(self) -> bool:
        """Whether nothing that was looked at has been replaced since."""
        for cell, content in self._cells:
            if cell.cell_contents is not content:
                return False
        for namespace, name, content in self._globals:
            if namespace.get(name) is not content:
                return False
        # Written out, for it runs at every call.
        for items, seen in self._lists:
            if len(items) != len(seen) or not all(map(operator.is_, items, seen)):
                return False
        for mapping, seen in self._dicts:
            values = mapping.values()
            if len(values) != len(seen) or not all(map(operator.is_, values, seen)):
                return False
        return True

    def ignore_changes(self) -> bool:
        """Takes what the function itself has changed since for a log, not for input.

        A function that appends to a list, or counts its traces, while it is being
        traced would otherwise be another program each time.
        """
        changed: list[Any] = [
            cell for cell, content in self._cells if cell.cell_contents is not content
        ]
        changed += [
            (id(namespace), name)
            for namespace, name, content in self._globals
            if namespace.get(name) is not content
        ]
        changed += [items for items, seen in self._lists if not _same(items, seen)]
        changed += [
            mapping
            for mapping, seen in self._dicts
            if not _same(mapping.values(), seen)
        ]
        for item in changed:
            _ignored[_log_key(item)] = item
        while len(_ignored) > _MAX_IGNORED:
            del _ignored[next(iter(_ignored))]
        return bool(changed)


# Cells, globals and containers that a traced function changed. They are kept alive, so
# that nothing else can get their identity.
_ignored: dict[Any, Any] = {}
_MAX_IGNORED = 1024


def _log_key(item: Any) -> Any:
    return item if isinstance(item, tuple) else id(item)


class Token:
    """Stands for a key: it is hashed at every call, and the key may be large."""

    __slots__ = ("__weakref__", "key")

    def __init__(self, key: Any) -> None:
        self.key = key


_tokens: weakref.WeakValueDictionary[Any, Token] = weakref.WeakValueDictionary()


def _token(key: Any) -> Token:
    token = _tokens.get(key)
    if token is None:
        token = _tokens[key] = Token(key)
    return token


class _Walk:
    """One look through a function and what it reaches."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.cells: list[tuple[types.CellType, Any]] = []
        self.globals: list[tuple[dict[str, Any], str, Any]] = []
        self.lists: list[tuple[list[Any], tuple[Any, ...]]] = []
        self.dicts: list[tuple[dict[Any, Any], tuple[Any, ...]]] = []
        self._seen: set[int] = set()

    def function(self, function: Any, depth: int) -> Any:
        if isinstance(function, types.MethodType):
            owner = ("method of", _identity(function.__self__))
            return (owner, self.function(function.__func__, depth))
        if not isinstance(function, types.FunctionType):
            return _identity(function)
        if id(function) in self._seen or depth > _MAX_DEPTH:
            return _identity(function)
        self._seen.add(id(function))
        code = function.__code__
        defaults = [
            self.content(value, depth + 1)
            for value in (
                *(function.__defaults__ or ()),
                *(function.__kwdefaults__ or {}).values(),
            )
        ]
        closed = [self._cell(cell, depth) for cell in function.__closure__ or ()]
        named = [
            (name, self._global(function.__globals__, name, depth))
            for name in sorted(_names(code))
            if name in function.__globals__
        ]
        return ("function", code, tuple(defaults), tuple(closed), tuple(named))

    def _cell(self, cell: types.CellType, depth: int) -> Any:
        try:
            content = cell.cell_contents
        except ValueError:  # a name that is not bound yet
            return "unbound"
        if id(cell) in _ignored:
            return "changed by the function"
        self.cells.append((cell, content))
        return self.content(content, depth + 1)

    def _global(self, namespace: dict[str, Any], name: str, depth: int) -> Any:
        content = namespace[name]
        if isinstance(content, (types.ModuleType, type, types.BuiltinFunctionType)):
            return _identity(content)
        if (id(namespace), name) in _ignored:
            return "changed by the function"
        self.globals.append((namespace, name, content))
        if isinstance(content, types.FunctionType):
            if content.__globals__ is not namespace:
                return _identity(content)  # of a library: taken as it is
            return self.function(content, depth + 1)
        return self.content(content, depth + 1)

    def content(self, value: Any, depth: int) -> Any:
        if isinstance(value, np.generic) or (
            isinstance(value, np.ndarray) and value.size <= _SMALL
        ):
            array = np.asarray(value)
            if array.dtype.kind != "O":
                return ("value", array.dtype.str, array.shape, array.tobytes())
        if isinstance(value, PerReplica):
            self.arrays.append(value)
            return ("per replica",)
        if host.is_array(value):
            self.arrays.append(value)
            return ("array", np.dtype(value.dtype), tuple(value.shape))
        if value is None or isinstance(value, (str, bytes, enum.Enum)):
            return value
        if host.is_number(value):
            return (type(value), repr(value))
        if isinstance(value, (types.FunctionType, types.MethodType)):
            return self.function(value, depth + 1)
        return self._container(value, depth)

    def _container(self, value: Any, depth: int) -> Any:
        if isinstance(value, Variable) or depth > _MAX_DEPTH:
            return _identity(value)
        kind = type(value)
        if id(value) in _ignored:
            return _identity(value)
        if kind is list and len(value) <= _MAX_ITEMS:
            self.lists.append((value, tuple(value)))
            return (kind, *(self.content(v, depth + 1) for v in value))
        if kind is tuple and len(value) <= _MAX_ITEMS:
            return (kind, *(self.content(v, depth + 1) for v in value))
        if kind is dict and len(value) <= _MAX_ITEMS and _plain_keys(value):
            self.dicts.append((value, tuple(value.values())))
            return (kind, *((k, self.content(v, depth + 1)) for k, v in value.items()))
        return _identity(value)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class _Identity:
    """Equal for the same object only, which it keeps alive."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _identity(value: Any) -> Any:
    return _Identity(value)


def _names(code: types.CodeType) -> set[str]:
    """The global names that a code object, or one nested in it, may look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _same(items: Collection[Any], seen: tuple[Any, ...]) -> bool:
    """Whether the items are still the same objects."""
    return len(items) == len(seen) and all(map(operator.is_, items, seen))


def _plain_keys(mapping: dict[Any, Any]) -> bool:
    return all(isinstance(key, (str, int, bytes)) for key in mapping)
