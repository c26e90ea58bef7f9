"""Whether a saved value fits what it is to be restored into, and as what."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.checkpoint import contents, foreign
from replax._src.checkpoint.saved import Leaf, Node, Path, dotted
from replax._src.core import host
from replax._src.core.errors import InvalidArgumentError
from replax._src.core.jax_compat import ArrayClass
from replax._src.values.variable import Variable

__all__ = ["as_it_was_saved", "for_foreign", "for_value", "for_variable"]


def for_variable(
    variable: Variable, node: Node, path: Path, source: str
) -> tuple[Any, list[Path]] | None:
    """The value to assign to a variable, and the paths that it was made of.

    None if the checkpoint does not have all of it.
    """
    leaves: list[Any] = []
    paths: list[Path] = []
    for names, spec in zip(
        contents.parts_of_variable(variable), variable.specs, strict=True
    ):
        leaf = _below(node, names)
        if leaf is None:
            return None
        what = f"variable {variable.name!r} ({dotted((*path, *names))})"
        value = _keyed(leaf) if host.is_key(spec.dtype) else np.asarray(leaf.value)
        _check(what, value, spec, source)
        leaves.append(value)
        paths.append((*path, *names))
    return variable.treedef.unflatten(leaves), paths


def for_foreign(variable: Any, leaf: Leaf, path: Path, source: str) -> Any:
    """The value to assign to another library's variable."""
    dtype = foreign.value_of(variable).dtype
    value = _keyed(leaf) if host.is_key(dtype) else np.asarray(leaf.value)
    what = f"variable {foreign.name_of(variable)!r} ({dotted(path)})"
    _check(what, value, jax.ShapeDtypeStruct(tuple(variable.shape), dtype), source)
    return value


def for_value(present: Any, leaf: Leaf, path: Path, source: str) -> Any:
    """What takes the place of a number, a text or an array."""
    if isinstance(present, (np.ndarray, np.generic)) or not isinstance(
        present, (bool, int, float, complex, str)
    ):
        return _for_array(present, leaf, path, source)
    saved = leaf.value
    if isinstance(saved, np.ndarray):
        saved = saved.item() if saved.shape == () else None
    if saved is None or isinstance(saved, str) is not isinstance(present, str):
        what = f"an array of shape {leaf.value.shape}" if saved is None else repr(saved)
        msg = (
            f"{dotted(path)} is {present!r}, and what {source} has for it is {what}; "
            f"give it a value of that kind before restoring"
        )
        raise InvalidArgumentError(msg)
    return saved


def _for_array(present: Any, leaf: Leaf, path: Path, source: str) -> Any:
    value = _keyed(leaf) if host.is_key(present.dtype) else np.asarray(leaf.value)
    spec = jax.ShapeDtypeStruct(tuple(present.shape), present.dtype)
    _check(dotted(path), value, spec, source)
    if isinstance(present, np.generic):
        return value[()]
    if isinstance(present, np.ndarray):
        return value
    if isinstance(present, ArrayClass) and present.committed:
        return jax.device_put(value, present.sharding)
    return jnp.asarray(value)


def as_it_was_saved(node: Node) -> Any:
    """The value for a name that was not there: its own kind, or dicts of it."""
    if isinstance(node, Leaf):
        return _keyed(node) if node.key_impl else node.value
    return {name: as_it_was_saved(child) for name, child in node.items()}


def _below(node: Node, names: Path) -> Leaf | None:
    for name in names:
        if isinstance(node, Leaf) or name not in node:
            return None
        node = node[name]
    return node if isinstance(node, Leaf) else None


def _keyed(leaf: Leaf) -> Any:
    if leaf.key_impl is None:
        return leaf.value
    return jax.random.wrap_key_data(jnp.asarray(leaf.value), impl=leaf.key_impl)


def _check(what: str, value: Any, spec: jax.ShapeDtypeStruct, source: str) -> None:
    saved = value if hasattr(value, "dtype") else np.asarray(value)
    if tuple(saved.shape) == tuple(spec.shape) and saved.dtype == spec.dtype:
        return
    msg = (
        f"{what} is {_shown(spec)}, but in {source} it is {_shown(saved)}; make it "
        f"of that shape and dtype, or give the one of the other shape another name"
    )
    raise InvalidArgumentError(msg)


def _shown(value: Any) -> str:
    return f"{value.dtype.name}{list(value.shape)}"
