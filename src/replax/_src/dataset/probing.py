"""What a function of users makes of elements, found by calling it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from replax._src.dataset.block import Block
from replax._src.dataset.calling import called
from replax._src.dataset.node import Node
from replax._src.dataset.structure import ElementSpec

__all__ = ["probed_spec"]

_PASS = (0,)


def probed_spec(child: Node, function: Callable[..., Any]) -> ElementSpec:
    """The spec of what ``function`` makes of the elements of a node.

    The function is called with the first elements, for it may compute with NumPy, which
    cannot be traced. A dimension in which its results differ is open; so that the
    length of a batch is found to be open where it is, it is also given a shorter one.
    """
    results = [
        ElementSpec.of(called(function, element, number))
        for number, element in enumerate(_examples(child))
    ]
    spec = results[0]
    for other in results[1:]:
        if other.treedef == spec.treedef:
            spec = spec.joined(other)
    return spec


def _examples(child: Node) -> Iterator[Any]:
    cursor = child.open(_PASS)
    try:
        block = cursor.take(1)
        if block is None:
            yield _zeros(child.spec())
            return
        first = block
        yield first.element(0)
        shorter = _shortened(first, child.spec())
        if shorter is not None:
            yield shorter
        block = cursor.take(1)
        if block is not None:
            yield block.element(0)
    finally:
        cursor.close()


def _shortened(block: Block, spec: ElementSpec) -> Any:
    """The first element with one row less in every axis of open length."""
    columns: list[Any] = []
    changed = False
    for column, leaf in zip(block.columns, spec.leaves, strict=True):
        shape = list(getattr(leaf, "shape", ()))
        if shape[:1] == [None] and column[0].shape[0] > 1:
            columns.append([column[0][:-1]])
            changed = True
        else:
            columns.append(column)
    return Block(block.treedef, columns, 1).element(0) if changed else None


def _zeros(spec: ElementSpec) -> Any:
    """An element as it might be, of a dataset that has none."""
    return spec.treedef.unflatten(
        [
            b""
            if leaf.dtype == object and not leaf.shape
            else np.zeros([dim or 0 for dim in leaf.shape], leaf.dtype)[()]
            for leaf in spec.leaves
        ]
    )
