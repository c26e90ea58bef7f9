"""What of a program's objects is saved, and under which names."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from replax._src.checkpoint.foreign import is_foreign_variable, is_replaceable
from replax._src.checkpoint.saved import Leaf, Path, dotted
from replax._src.core import host
from replax._src.values.handle import Handle, is_handle
from replax._src.values.variable import Variable

__all__ = [
    "Tracked",
    "array_leaf",
    "as_leaf",
    "check_not_empty",
    "check_savable",
    "children",
    "gathered",
    "is_plain_value",
    "is_tree_leaf",
    "parts_of_tree",
    "parts_of_variable",
]

_SCALARS = (bool, int, float, complex, str)
# A function of ours, say, knows the variables that it uses, but does not have them.
_NOT_LOOKED_INTO = frozenset({"replax", "jax", "jaxlib", "numpy"})
_NEVER_OBJECTS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
)


class Tracked:
    """Base of the objects that know by themselves which attributes are saved."""

    def tracked(self) -> dict[str, Any]:
        """The attributes that are saved, by name."""
        raise NotImplementedError


def is_plain_value(value: Any) -> bool:
    """Whether it is saved as a value: a number, a text, an array."""
    return isinstance(value, _SCALARS) or host.is_array(value)


def children(value: Any) -> dict[str, Any] | None:
    """What is saved below a value that is changed in place; None if it is not."""
    if isinstance(value, Tracked):
        return value.tracked()
    if isinstance(value, dict):
        return _of_dict(value)
    if isinstance(value, list):
        return {str(i): child for i, child in enumerate(value)}
    if is_object(value):
        return _of_object(value)
    return None


def is_object(value: Any) -> bool:
    """Whether it is an object of the user's, looked through for variables."""
    if not _has_attributes(value):
        return False
    _, treedef = jax.tree_util.tree_flatten(value, is_leaf=is_handle)
    # A module of NNX is a tree too, but its variables are restored in place.
    return is_tree_leaf(treedef) or _holds_replaceable(value, set())


def _has_attributes(value: Any) -> bool:
    library = type(value).__module__.partition(".")[0]
    return (
        hasattr(value, "__dict__")
        and library not in _NOT_LOOKED_INTO
        and not isinstance(value, (Tracked, Handle, Mapping, list, *_NEVER_OBJECTS))
        and not is_plain_value(value)
        and not is_foreign_variable(value)
    )


def _holds_replaceable(value: Any, seen: set[int]) -> bool:
    if id(value) in seen or not _has_attributes(value):
        return False
    seen.add(id(value))
    inner = vars(value).values()
    return any(is_replaceable(x) or _holds_replaceable(x, seen) for x in inner)


def is_tree_leaf(treedef: Any) -> bool:
    """Whether a value is no tree; nothing at all (None, an empty tuple) is one."""
    return treedef.num_leaves == 1 and jax.tree_util.treedef_is_leaf(treedef)


def _of_dict(value: Mapping[Any, Any]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            msg = (
                f"a dict in a checkpoint has the key {key!r}; values are saved by "
                f"their names, so use texts as keys: {str(key)!r}"
            )
            raise TypeError(msg)
    return dict(value)


def _of_object(value: Any) -> dict[str, Any]:
    """The attributes that are, or lead to, variables."""
    variables = getattr(value, "variables", None)
    if isinstance(variables, (list, tuple)) and variables:
        items: list[Any] = list(variables)
        if all(map(is_foreign_variable, items)):
            # A model, an optimizer or a metric of Keras: its variables in their order.
            return {str(i): item for i, item in enumerate(items)}
    return {
        name: child
        for name, child in vars(value).items()
        if leads_to_variables(child, {id(value)})
    }


def leads_to_variables(value: Any, seen: set[int]) -> bool:
    """Whether there is a variable in it, or a checkpoint."""
    if isinstance(value, (Variable, Tracked)) or is_foreign_variable(value):
        return True
    if id(value) in seen or is_plain_value(value) or value is None:
        return False
    seen.add(id(value))
    if isinstance(value, dict):
        inner: list[Any] = list(value.values())
    elif isinstance(value, (list, tuple)):
        inner = list(value)
    elif is_object(value):
        inner = [*vars(value).values(), getattr(value, "variables", None)]
    else:
        return False
    return any(leads_to_variables(child, seen) for child in inner)


def parts_of_variable(variable: Variable) -> tuple[Path, ...]:
    """Below the variable's name the names of its leaves, in their order."""
    stand_in = variable.treedef.unflatten(range(len(variable.specs)))
    return tuple(name for name, _ in parts_of_tree(stand_in)[0])


def parts_of_tree(tree: Any) -> tuple[list[tuple[Path, Any]], Any]:
    """The leaves of a tree with their names, and its structure."""
    pairs, treedef = jax.tree_util.tree_flatten_with_path(tree, is_leaf=_is_whole)
    return [(tuple(map(_name, keys)), leaf) for keys, leaf in pairs], treedef


def _is_whole(value: Any) -> bool:
    return isinstance(value, (Handle, Tracked))


def _name(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def check_savable(value: Any, path: Path) -> None:
    """Refuses what a checkpoint cannot save, when it is given to one."""
    for _ in _walk(value, path, ()):
        pass


def check_not_empty(value: Any, path: Path, above: tuple[int, ...] = ()) -> None:
    """Refuses to save objects without variables: what they have would be lost."""
    below = children(value)
    if below is None or id(value) in above:
        return
    if not below and is_object(value):
        msg = (
            f"{dotted(path)} is {value!r}, which has no variable in its attributes, so "
            f"nothing of it would be saved; make its state replax.Variables, or give "
            f"the checkpoint its arrays: Checkpoint(weights=model.weights)"
        )
        raise ValueError(msg)
    for name, child in below.items():
        check_not_empty(child, (*path, name), (*above, id(value)))


def gathered(value: Any) -> Iterator[tuple[Path, Any]]:
    """All variables and plain values in it, with their paths."""
    return _walk(value, (), ())


def _walk(value: Any, path: Path, above: tuple[int, ...]) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Variable) or is_foreign_variable(value):
        yield path, value
        return
    if is_plain_value(value):
        yield path, value
        return
    below = children(value)
    if below is not None:
        for name, child in below.items():
            if id(child) not in above:  # a child that knows its parent
                yield from _walk(child, (*path, name), (*above, id(value)))
        return
    parts, treedef = parts_of_tree(value)
    if is_tree_leaf(treedef):
        _refuse(value, path)
    for names, leaf in parts:
        yield from _walk(leaf, (*path, *names), (*above, id(value)))


def _refuse(value: Any, path: Path) -> None:
    msg = (
        f"{dotted(path)} is {value!r}, which a checkpoint cannot save; it saves "
        f"variables, numbers, texts and arrays, trees of them, and objects and other "
        f"checkpoints that have them as attributes"
    )
    raise TypeError(msg)


def as_leaf(value: Any) -> Leaf:
    """A plain value as it is saved."""
    if isinstance(value, np.generic) or not isinstance(value, _SCALARS):
        return array_leaf(value)
    return Leaf(value)


def array_leaf(value: Any, *, of_variable: bool = False) -> Leaf:
    """An array as it is saved."""
    if host.is_key(value.dtype):
        impl = str(jax.random.key_impl(value))
        return Leaf(host.to_numpy(value), impl, of_variable)
    return Leaf(np.asarray(value), None, of_variable)
