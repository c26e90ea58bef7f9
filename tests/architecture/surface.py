"""Every public name of Replax, as a running program sees it.

As a program it prints the entries as JSON: the facades change JAX's configuration when
they are imported, so the walk runs in a process of its own.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import json
import pkgutil
import re
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "replax"


@dataclasses.dataclass(frozen=True)
class Entry:
    """One public name: what it is, and how far it is described."""

    name: str
    what: str
    kind: str
    ours: bool
    documented: bool
    example: bool

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


def public_modules() -> list[str]:
    """The names of the public modules; the facades, which are aliases, come last."""
    package = importlib.import_module(PACKAGE)
    found = pkgutil.walk_packages(package.__path__, f"{PACKAGE}.")
    public = [m.name for m in found if "._" not in m.name]
    facades = f"{PACKAGE}.compat"
    return sorted([PACKAGE, *public], key=lambda name: (name.startswith(facades), name))


def entries() -> Iterator[Entry]:
    """Every public name of every public module."""
    modules = [importlib.import_module(name) for name in public_modules()]
    walk = _Walk({id(module): module.__name__ for module in modules})
    for module in modules:
        yield _entry(module.__name__, "module", "module", module, ours=True)
        for name in module.__all__:
            path = f"{module.__name__}.{name}"
            value = getattr(module, name)
            if not (inspect.ismodule(value) and value.__name__ == path):
                yield from walk.visit(path, value)


class _Walk:
    """Describes each object where it is met first, and later refers to that."""

    def __init__(self, seen: dict[int, str]) -> None:
        self._seen = seen

    def visit(self, path: str, value: Any) -> Iterator[Entry]:
        first = self._seen.get(id(value))
        if first is not None and _has_identity(value):
            yield _entry(path, f"is {first}", "alias", value, ours=False)
            return
        self._seen[id(value)] = path
        home = getattr(value, "__module__", None) or ""
        ours = home.split(".")[0] == PACKAGE
        if isinstance(value, types.ModuleType | types.SimpleNamespace):
            yield _entry(path, "namespace", "namespace", value, ours=False)
            for name in getattr(value, "__all__", sorted(vars(value))):
                yield from self.visit(f"{path}.{name}", getattr(value, name))
        elif inspect.isclass(value):
            bases = ", ".join(base.__name__ for base in value.__bases__)
            # What an enumeration's constructor takes depends on the Python.
            call = "" if issubclass(value, enum.Enum) else _signature(value)
            what = f"class {value.__name__}({bases}){call}"
            yield _entry(path, what if ours else _foreign(value), "class", value, ours)
            if ours:
                yield from _members(path, value)
        elif callable(value):
            what = f"function{_signature(value)}" if ours else _foreign(value)
            yield _entry(path, what, "function", value, ours)
        else:
            yield _entry(path, f"a {type(value).__name__}", "value", value, ours=False)


def _has_identity(value: Any) -> bool:
    return inspect.isclass(value) or callable(value) or inspect.ismodule(value)


def _members(path: str, cls: type) -> Iterator[Entry]:
    if issubclass(cls, enum.Enum):
        for constant in cls:
            name = f"{path}.{constant.name}"
            what = f"member {constant.value!r}"
            yield _entry(name, what, "value", constant, ours=False)
    for name in sorted(dir(cls)):
        owner = next((c for c in cls.__mro__ if name in vars(c)), object)
        if name.startswith("_") or owner.__module__.split(".")[0] != PACKAGE:
            continue
        member = f"{path}.{name}"
        value = inspect.getattr_static(cls, name)
        if inspect.ismemberdescriptor(value):
            yield _entry(member, "attribute", "value", value, ours=False)
        elif isinstance(value, property | functools.cached_property):
            yield _entry(member, "property", "member", value, ours=True)
        elif isinstance(value, staticmethod | classmethod) or inspect.isroutine(value):
            value = getattr(cls, name)
            what = f"method{_signature(value)}"
            yield _entry(member, what, "member", value, ours=True)


class _Bare(str):
    """An annotation that was written as text, without its quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"

    def bare(annotation: Any) -> Any:
        return _Bare(annotation) if isinstance(annotation, str) else annotation

    text = str(
        signature.replace(
            parameters=[
                p.replace(annotation=bare(p.annotation))
                for p in signature.parameters.values()
            ],
            return_annotation=bare(signature.return_annotation),
        )
    )
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _foreign(value: Any) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "?")
    return f"is {(getattr(value, '__module__', None) or '?').split('.')[0]}'s {name}"


def _entry(name: str, what: str, kind: str, value: Any, ours: bool) -> Entry:
    text = vars(value).get("__doc__") if inspect.isclass(value) else None
    text = text or ("" if inspect.isclass(value) else inspect.getdoc(value) or "")
    return Entry(name, what, kind, ours, bool(text), ">>> " in text)


if __name__ == "__main__":
    print(json.dumps([dataclasses.asdict(entry) for entry in entries()]))
