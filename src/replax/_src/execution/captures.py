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
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from replax._src.core import host
from replax._src.core.jax_compat import ArrayClass
from replax._src.execution.attributes import attributes_read
from replax._src.values.distributed import PerReplica
from replax._src.values.handle import Handle

__all__ = ["Captures", "Token", "captured_arrays"]

# Containers larger than this are data, compared by identity.
_MAX_ITEMS = 256
_MAX_DEPTH = 8
_MAX_WATCHED = 1024
_SMALL = 64
_MAX_IGNORED = 4096

# Objects of these packages are taken as they are: what is in them is not the user's.
_CLOSED_PACKAGES = frozenset(
    {
        "builtins",
        "jax",
        "jaxlib",
        "keras",
        "logging",
        "numpy",
        "optax",
        "replax",
        "threading",
    }
)

# Names and lists that a function changed while it was traced. What they belong to is
# kept alive, so that nothing else can get its identity.
_ignored: dict[Any, Any] = {}


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


@dataclasses.dataclass(slots=True)
class Captures:
    """The contents of a function's closure, and of the globals it names.

    Attributes:
      token: The same object for functions that are the same program.
      arrays: Arrays and per-replica values that it closes over.
    """

    token: Token
    arrays: list[Any]
    _names: list[tuple[dict[str, Any], str, Any]]
    _dicts: list[tuple[dict[str, Any], tuple[str, ...]]]
    _lists: list[tuple[list[Any], tuple[Any, ...]]]
    _attributes: list[tuple[Any, str, Any]]
    _copies: list[tuple[Any, Callable[[Any], Any], Any]]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Captures:
        """Looks through a function."""
        walk = _Walk()
        key = walk.function(function, 0)
        token = _token(key)
        return cls(
            token,
            walk.arrays,
            walk.names,
            walk.dicts,
            walk.lists,
            walk.attributes,
            walk.copies,
        )

    def still_hold(self) -> bool:
        """Whether nothing that was looked at has been changed since."""
        # Written out, for it runs at every call.
        for namespace, name, content in self._names:
            if namespace.get(name) is not content:
                return False
        for owner, name, content in self._attributes:
            if getattr(owner, name, None) is not content:
                return False
        for mapping, names in self._dicts:
            if len(mapping) != len(names):
                return False
        for items, seen in self._lists:
            if len(items) != len(seen) or not all(map(operator.is_, items, seen)):
                return False
        return not self._copies or self._same_within()

    def _same_within(self) -> bool:
        return all(copied(owner) == content for owner, copied, content in self._copies)

    def ignore_changes(self) -> bool:
        """Takes what the function itself has changed since for a log, not for input.

        A function that appends to a list, counts its traces or keeps what it makes,
        while it is being traced, would otherwise be another program each time.
        """
        changed: dict[Any, Any] = {
            (id(namespace), name): namespace
            for namespace, name, content in self._names
            if namespace.get(name) is not content
        }
        for owner, name, content in self._attributes:
            if getattr(owner, name, None) is not content:
                changed[id(owner), name] = owner
        for mapping, names in self._dicts:
            for name in mapping.keys() - set(names):
                changed[id(mapping), name] = mapping
        for items, seen in self._lists:
            if len(items) != len(seen) or not all(map(operator.is_, items, seen)):
                changed[id(items)] = items
        for owner, copied, content in self._copies:
            if copied(owner) != content:
                changed[id(owner)] = owner
        _ignored.update(changed)
        while len(_ignored) > _MAX_IGNORED:
            del _ignored[next(iter(_ignored))]
        return bool(changed)


def captured_arrays(function: Callable[..., Any]) -> list[jax.Array]:
    """The arrays of JAX that a function closes over."""
    arrays = Captures.of(function).arrays
    return [array for array in arrays if isinstance(array, ArrayClass)]


class _Walk:
    """One look through a function and what it reaches."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.names: list[tuple[dict[str, Any], str, Any]] = []
        self.dicts: list[tuple[dict[str, Any], tuple[str, ...]]] = []
        self.lists: list[tuple[list[Any], tuple[Any, ...]]] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.copies: list[tuple[Any, Callable[[Any], Any], Any]] = []
        self._seen: set[int] = set()

    def function(self, function: Any, depth: int) -> Any:
        """The key of something that is called."""
        if isinstance(function, types.MethodType):
            owner = self._owner(function, depth + 1)
            return ("method", owner, self.function(function.__func__, depth))
        if not isinstance(function, types.FunctionType) or depth > _MAX_DEPTH:
            return _Identity(function)
        if id(function) in self._seen:
            return _Identity(function)
        self._seen.add(id(function))
        code = function.__code__
        defaults = [
            self.content(value, depth + 1)
            for value in (
                *(function.__defaults__ or ()),
                *(function.__kwdefaults__ or {}).values(),
            )
        ]
        closed = [
            self._cell(code, name, cell, depth)
            for name, cell in zip(
                code.co_freevars, function.__closure__ or (), strict=True
            )
        ]
        named = [
            (name, self._global(function.__globals__, name, code, depth))
            for name in sorted(_names(code))
            if name in function.__globals__
        ]
        return ("function", code, tuple(defaults), tuple(closed), tuple(named))

    def _owner(self, method: types.MethodType, depth: int) -> Any:
        """The key of a method's object."""
        code = getattr(method.__func__, "__code__", None)
        if code is None or not code.co_argcount:
            return self.content(method.__self__, depth)
        return self._read_by(code, code.co_varnames[0], method.__self__, depth)

    def _read_by(
        self, code: types.CodeType, variable: str, owner: Any, depth: int
    ) -> Any:
        """The key of what some code can read of what it calls ``variable``."""
        if not _is_plain_object(owner):
            return self.content(owner, depth)
        names = attributes_read(owner, code, variable)
        if names is None:
            return self.content(owner, depth)
        mapping = owner.__dict__
        found: list[Any] = [_Identity(owner)]
        for name in sorted(names):
            if name in mapping:
                found.append((name, self._item(mapping, name, depth)))
            else:  # it may come
                self.names.append((mapping, name, None))
        return tuple(found)

    def _cell(
        self, code: types.CodeType, name: str, cell: types.CellType, depth: int
    ) -> Any:
        try:
            content = cell.cell_contents
        except ValueError:  # a name that is not bound yet
            return "unbound"
        if (id(cell), "cell_contents") in _ignored:
            return "changed by the function"
        self.attributes.append((cell, "cell_contents", content))
        return self._read_by(code, name, content, depth + 1)

    def _global(
        self, namespace: dict[str, Any], name: str, code: types.CodeType, depth: int
    ) -> Any:
        content = namespace[name]
        if isinstance(content, (types.ModuleType, type, types.BuiltinFunctionType)):
            return _Identity(content)
        if (
            isinstance(content, types.FunctionType)
            and content.__globals__ is not namespace
        ):
            return _Identity(content)  # of a library: taken as it is
        if not _is_plain_object(content) or (id(namespace), name) in _ignored:
            return self._item(namespace, name, depth)
        self.names.append((namespace, name, content))
        return self._read_by(code, name, content, depth + 1)

    def _item(self, mapping: dict[str, Any], name: str, depth: int) -> Any:
        if (id(mapping), name) in _ignored:
            return "changed by the function"
        content = mapping[name]
        self.names.append((mapping, name, content))
        return self.content(content, depth + 1)

    def content(self, value: Any, depth: int) -> Any:
        """The key of something that is closed over."""
        if isinstance(value, Handle):
            return self._handle(value)
        if _is_small(value):
            return self._small(value)
        if host.is_array(value):
            self.arrays.append(value)
            return ("array", value.dtype, tuple(value.shape))
        if value is None or isinstance(value, (str, bytes, enum.Enum)):
            return value
        if host.is_number(value):
            return (type(value), repr(value))
        if isinstance(value, (types.FunctionType, types.MethodType)):
            return self.function(value, depth + 1)
        return self._container(value, depth)

    def _small(self, value: np.generic | np.ndarray) -> Any:
        """Few numbers, which are a part of the program and may change in place."""
        numbers = value.tobytes()
        if isinstance(value, np.ndarray) and value.flags.writeable:
            if id(value) in _ignored:
                return _Identity(value)
            self.copies.append((value, np.ndarray.tobytes, numbers))
        return ("value", value.dtype.str, value.shape, numbers)

    def _handle(self, value: Handle) -> Any:
        if type(value) is PerReplica:
            self.arrays.append(value)
            return "per replica"
        return _Identity(value)

    def _container(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if depth > _MAX_DEPTH or len(self.names) + len(self.attributes) > _MAX_WATCHED:
            return _Identity(value)
        if kind is list and len(value) <= _MAX_ITEMS:
            if id(value) in _ignored:
                return _Identity(value)
            self.lists.append((value, tuple(value)))
            return (kind, *(self.content(v, depth + 1) for v in value))
        if kind is tuple and len(value) <= _MAX_ITEMS:
            return (kind, *(self.content(v, depth + 1) for v in value))
        if kind is dict:
            return (kind, *self._mapping(value, depth))
        if kind is set and len(value) <= _MAX_ITEMS:
            if id(value) in _ignored:
                return _Identity(value)
            self.copies.append((value, frozenset, frozenset(value)))
            return (kind, frozenset(value))
        if kind.__module__.partition(".")[0] in _CLOSED_PACKAGES:
            return _Identity(value)
        return (_Identity(value), *self._parts(value, depth))

    def _parts(self, value: Any, depth: int) -> list[Any]:
        """What an object of the user's has in it."""
        if isinstance(value, (type, types.ModuleType)) or id(value) in self._seen:
            return []
        self._seen.add(id(value))
        found = [
            (name, self._attribute(value, name, depth))
            for kind in type(value).__mro__
            for name in kind.__dict__.get("__slots__", ())
            if isinstance(name, str) and not name.startswith("__")
        ]
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict):
            found += self._mapping(attributes, depth)
        return found

    def _attribute(self, owner: Any, name: str, depth: int) -> Any:
        if (id(owner), name) in _ignored:
            return "changed by the function"
        content = getattr(owner, name, None)
        self.attributes.append((owner, name, content))
        return self.content(content, depth + 1)

    def _mapping(self, mapping: dict[Any, Any], depth: int) -> list[Any]:
        if len(mapping) > _MAX_ITEMS or not all(
            isinstance(name, (str, int, bytes)) for name in mapping
        ):
            return [_Identity(mapping)]
        known = [name for name in mapping if (id(mapping), name) not in _ignored]
        self.dicts.append((mapping, tuple(mapping)))
        return [(name, self._item(mapping, name, depth)) for name in known]


def _is_plain_object(value: Any) -> bool:
    """Whether it is an object of a class of the user's, with its own attributes."""
    return (
        not isinstance(value, (type, types.ModuleType, Handle))
        and not host.is_array(value)
        and type(getattr(value, "__dict__", None)) is dict
        and type(value).__module__.partition(".")[0] not in _CLOSED_PACKAGES
    )


def _is_small(value: Any) -> bool:
    """Whether it is an array of the host that is better compared than kept."""
    return (
        isinstance(value, (np.generic, np.ndarray))
        and value.size <= _SMALL
        and value.dtype.kind != "O"
    )


class _Identity:
    """Equal for the same object only, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _names(code: types.CodeType) -> set[str]:
    """The global names that a code object, or one nested in it, may look up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
