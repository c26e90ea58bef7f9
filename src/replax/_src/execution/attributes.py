"""Which attributes of an object a method can read.

An object that trains has much in it that its step never sees: counters, a history, the
best loss so far. Its step must not be compiled again when these change. What a method
reads of its own object is seen in its code, as long as it does not hand the object to
others as a whole.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Generator
from typing import Any

__all__ = ["attributes_read"]

_READS_OTHERWISE = frozenset({"__getattr__", "__getattribute__", "__slots__"})
_READS_UNSEEN = frozenset({"super", "locals", "vars", "eval", "exec"})
_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_GLOBAL"})
_TAKES_ATTRIBUTE = frozenset({"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"})
# They put the object into a cell, or take it along for functions inside of this one,
# whose code is looked at as well.
_IS_PREPARATION = frozenset({"MAKE_CELL", "COPY_FREE_VARS", "LOAD_CLOSURE"})


def attributes_read(
    owner: Any, code: types.CodeType, variable: str
) -> frozenset[str] | None:
    """The names of the attributes of an object that some code can read.

    Args:
      owner: The object.
      code: The code of a function.
      variable: What the object is called in it.

    Returns:
      The names, those that methods of the object read too if the code uses these;
      None if the code may read any.
    """
    kind = type(owner)
    if not all(_READS_OTHERWISE.isdisjoint(c.__dict__) for c in _own(kind)):
        return None
    found: set[str] = set()
    looked_at: set[types.CodeType] = set()
    todo = [(code, variable)]
    while todo:
        code, variable = todo.pop()
        if code in looked_at:
            continue
        looked_at.add(code)
        names = _names_after(code, variable)
        if names is None:
            return None
        for name in names - found:
            found.add(name)
            member = _member(kind, name)
            method = getattr(member, "python_function", member)
            if isinstance(method, types.FunctionType):
                inner = method.__code__
                if not inner.co_argcount:
                    return None
                todo.append((inner, inner.co_varnames[0]))
            elif hasattr(type(member), "__get__"):
                return None  # a property, or something else that may read anything
    return frozenset(found)


def _own(kind: type) -> list[type]:
    return [c for c in kind.__mro__ if c is not object]


def _member(kind: type, name: str) -> Any:
    return next((c.__dict__[name] for c in _own(kind) if name in c.__dict__), None)


@functools.lru_cache(1024)
def _names_after(code: types.CodeType, variable: str) -> frozenset[str] | None:
    """What is read of a variable in a code object, and in those nested in it."""
    names: set[str] = set()
    for inner in _with_nested(code):
        if not _READS_UNSEEN.isdisjoint(inner.co_names):
            return None
        instructions = [i for i in dis.get_instructions(inner) if i.opname != "CACHE"]
        for at, instruction in enumerate(instructions):
            if not _mentions(instruction, variable):
                continue
            if instruction.opname in _IS_PREPARATION:
                continue
            following = instructions[at + 1]
            if following.opname == "COPY":  # self.count += 1
                following = instructions[at + 2]
            if instruction.opname not in _LOADS:
                return None
            if following.opname not in _TAKES_ATTRIBUTE:
                return None
            names.add(following.argval)
    return None if "__dict__" in names else frozenset(names)


def _mentions(instruction: dis.Instruction, variable: str) -> bool:
    named: Any = instruction.argval
    if isinstance(named, tuple):  # two variables at once
        return variable in named
    return named == variable and (
        instruction.opname in _IS_PREPARATION
        or any(kind in instruction.opname for kind in ("FAST", "DEREF", "GLOBAL"))
    )


def _with_nested(code: types.CodeType) -> Generator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _with_nested(constant)
