"""What a checkpoint holds: values by their names, names within names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Leaf", "Names", "Node", "Path", "dotted", "leaves_of", "nested"]

# The way from the checkpoint to a value: ("net", "layers", "0", "kernel").
Path = tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Leaf:
    """One saved value.

    Attributes:
      value: A NumPy array, or a Python number or text. Of a key of random numbers the
        numbers that it is made of.
      key_impl: For such a key the name of its generator, else None.
      of_variable: Whether it is the value of a variable.
    """

    value: Any
    key_impl: str | None = None
    of_variable: bool = False


Names = dict[str, "Node"]
Node = Leaf | Names


def dotted(path: Path) -> str:
    """The path as messages show it: ``net.layers.0``."""
    return ".".join(path) or "the checkpoint itself"


def nested(leaves: Mapping[Path, Leaf]) -> Names:
    """Names within names, from paths."""
    root: Names = {}
    for path, leaf in leaves.items():
        names: Any = root
        for name in path[:-1]:
            names = names.setdefault(name, {})
        names[path[-1]] = leaf
    return root


def leaves_of(node: Node, path: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """All leaves below a node, with their paths."""
    if isinstance(node, Leaf):
        yield path, node
        return
    for name, child in node.items():
        yield from leaves_of(child, (*path, name))
