"""What a function of users makes of elements, found by calling it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from replax._src.dataset.block import Block
from replax._src.dataset.calling import called
from replax._src.dataset.node import Node
from replax._src.dataset.structure import ElementSpec, Opaque

__all__ = ["joined_spec", "probed_spec"]

_PASS = (0,)

# How many results are compared, and how many elements are tried for them.
_RESULTS = 3
_TRIED = 16


def probed_spec(child: Node, function: Callable[..., Any]) -> ElementSpec:
    """The spec of what ``function`` makes of the elements of a node."""
    return joined_spec(
        child,
        lambda element, number: ElementSpec.of(called(function, element, number)),
    )


def joined_spec(child: Node, spec_of: Callable[[Any, int], ElementSpec]) -> ElementSpec:
    """What the specs that ``spec_of`` gives for elements of a node have in common.

    It is called with the first elements, and calls a function of users, which may
    compute with NumPy and cannot be traced. A dimension in which the results differ is
    open; so that the length of a batch is found to be open where it is, there is also
    one of another length. Elements with which it fails say nothing if there are others.
    """
    results: list[ElementSpec] = []
    failure: Exception | None = None
    for number, element in enumerate(_examples(child)):
        try:
            results.append(spec_of(element, number))
        except Exception as error:  # noqa: BLE001  # raised if all others fail too
            failure = failure or error
        if len(results) == _RESULTS:
            break
    if not results:
        assert failure is not None, "there is always an example"
        raise failure
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
        other = _of_other_length(first, child.spec())
        if other is not None:
            yield other
        for _ in range(_TRIED):
            block = cursor.take(1)
            if block is None:
                return
            yield block.element(0)
    finally:
        cursor.close()


def _of_other_length(block: Block, spec: ElementSpec) -> Any:
    """The first element, one shorter in every axis of open length, or twice as long.

    An axis that has one row is made longer, for many functions take no empty arrays.
    """
    columns: list[Any] = []
    changed = False
    for column, leaf in zip(block.columns, spec.leaves, strict=True):
        value = column[0]
        for axis, open_ in enumerate(getattr(leaf, "shape", ())):
            length = np.shape(value)[axis]
            if open_ is None and length:
                changed = True
                rows = range(length - 1) if length > 1 else [0, 0]
                value = np.take(value, rows, axis)
        columns.append([value])
    return Block(block.treedef, columns, 1).element(0) if changed else None


def _zeros(spec: ElementSpec) -> Any:
    """An element as it might be, of a dataset that has none."""
    return spec.treedef.unflatten([_zero(leaf) for leaf in spec.leaves])


def _zero(leaf: Any) -> Any:
    if isinstance(leaf, Opaque):
        return leaf  # an empty dataset
    if leaf.dtype == object and not leaf.shape:
        return b""
    return np.zeros([dim or 0 for dim in leaf.shape], leaf.dtype)[()]
