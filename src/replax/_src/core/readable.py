"""What stands for a value: variables, and copies of them in a transformation."""

from __future__ import annotations

from typing import Any

import jax

__all__ = ["Readable", "read"]


class Readable:
    """Base of what is replaced by its value where values are brought together."""

    __slots__ = ()

    def read_value(self) -> Any:
        """The value: an array or a tree of arrays."""
        raise NotImplementedError


def read(value: Any) -> Any:
    """``value`` with every Readable in it replaced by the value it has."""
    leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=_is_readable)
    if not any(map(_is_readable, leaves)):
        return value
    return treedef.unflatten(
        [leaf.read_value() if _is_readable(leaf) else leaf for leaf in leaves]
    )


def _is_readable(value: Any) -> bool:
    return isinstance(value, Readable)
