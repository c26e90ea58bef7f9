"""What transformations of datasets mean, in plain Python: lists in, lists out.

No code of the library is used. Elements are NumPy numbers and arrays, ``bytes``, and
tuples and dicts of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

Elements = list[Any]


def leaves(element: Any) -> list[Any]:
    if isinstance(element, tuple):
        return [leaf for part in element for leaf in leaves(part)]
    if isinstance(element, dict):
        return [leaf for key in sorted(element) for leaf in leaves(element[key])]
    return [element]


def over_leaves(function: Callable[..., Any], *elements: Any) -> Any:
    """An element of what a function makes of the leaves at the same place."""
    first = elements[0]
    if isinstance(first, tuple):
        return tuple(
            over_leaves(function, *parts) for parts in zip(*elements, strict=True)
        )
    if isinstance(first, dict):
        return {
            key: over_leaves(function, *(element[key] for element in elements))
            for key in first
        }
    return function(*elements)


def call(function: Callable[..., Any], element: Any) -> Any:
    return function(*element) if type(element) is tuple else function(element)


def same(one: Any, other: Any) -> bool:
    """Whether two elements are the same: structure, dtypes, shapes and values."""
    if isinstance(one, (tuple, dict)):
        if type(one) is not type(other) or len(one) != len(other):
            return False
        if isinstance(one, dict) and one.keys() != other.keys():
            return False
        return all(map(same, leaves(one), leaves(other)))
    if isinstance(one, bytes) or isinstance(other, bytes):
        return one == other
    if isinstance(other, (tuple, dict)):
        return False
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and bool(np.array_equal(one, other))
    )


def all_same(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(ones) == len(others) and all(map(same, ones, others))


def key(element: Any) -> Any:
    """A hashable stand-in: the same for elements that are the same."""
    return tuple(
        leaf
        if isinstance(leaf, bytes)
        else (str(leaf.dtype), leaf.shape, leaf.tobytes())
        for leaf in leaves(element)
    )


def weight(element: Any) -> int:
    """A small number that depends on all of an element; for functions of users."""
    total = 0
    for leaf in leaves(element):
        if isinstance(leaf, bytes):
            total += sum(leaf)
        elif leaf.dtype == object:
            total += sum(map(sum, leaf.ravel()))
        else:
            total += int(np.asarray(leaf, np.float64).sum() * 2) + leaf.size
    return total


def stacked(elements: Sequence[Any]) -> Any:
    def stack(*parts: Any) -> Any:
        if isinstance(parts[0], bytes):
            column = np.empty(len(parts), object)
            column[:] = parts
            return column
        return np.array(parts, parts[0].dtype)

    return over_leaves(stack, *elements)


def rows(element: Any) -> Elements:
    count = len(leaves(element)[0])
    return [over_leaves(lambda leaf, i=i: leaf[i], element) for i in range(count)]


def chunks(elements: Elements, size: int, *, drop: bool) -> list[Elements]:
    made = [elements[i : i + size] for i in range(0, len(elements), size)]
    return [chunk for chunk in made if len(chunk) == size or not drop]


def batch(elements: Elements, size: int, *, drop: bool = False) -> Elements:
    return [stacked(chunk) for chunk in chunks(elements, size, drop=drop)]


def padded(elements: Elements, length: int | None = None) -> Any:
    """A batch of the elements, every leaf padded to one shape."""

    def pad(*parts: Any) -> Any:
        if isinstance(parts[0], bytes):
            return stacked(parts)
        shape = [max(sizes) for sizes in zip(*(p.shape for p in parts), strict=True)]
        if length is not None and shape:
            shape[0] = length
        fill = b"" if parts[0].dtype == object else 0
        batch = np.full((len(parts), *shape), fill, parts[0].dtype)
        for number, part in enumerate(parts):
            batch[(number, *map(slice, part.shape))] = part
        return batch

    return over_leaves(pad, *elements)


def padded_batch(elements: Elements, size: int, *, drop: bool = False) -> Elements:
    return [padded(chunk) for chunk in chunks(elements, size, drop=drop)]


def unbatch(elements: Elements) -> Elements:
    return [row for element in elements for row in rows(element)]


def bucket(
    elements: Elements,
    length_of: Callable[[Any], int],
    boundaries: Sequence[int],
    sizes: Sequence[int],
    *,
    drop: bool = False,
    to_boundary: bool = False,
) -> Elements:
    held: list[Elements] = [[] for _ in sizes]
    made: Elements = []

    def empty(number: int) -> None:
        length = None
        if to_boundary and number < len(boundaries):
            length = boundaries[number] - 1
        made.append(padded(held[number], length))
        held[number] = []

    for element in elements:
        number = sum(boundary <= length_of(element) for boundary in boundaries)
        held[number].append(element)
        if len(held[number]) == sizes[number]:
            empty(number)
    for number, left in enumerate(held):
        if left and not drop:
            empty(number)
    return made


def window(
    elements: Elements, size: int, shift: int, stride: int, *, drop: bool
) -> list[Elements]:
    made: list[Elements] = []
    for start in range(0, len(elements), shift):
        span = elements[start : start + (size - 1) * stride + 1]
        chosen = span[::stride]
        if len(chosen) < size and drop:
            break
        made.append(chosen)
    return made


def take_while(elements: Elements, predicate: Callable[[Any], bool]) -> Elements:
    made: Elements = []
    for element in elements:
        if not predicate(element):
            break
        made.append(element)
    return made


def interleave(
    elements: Elements,
    make: Callable[[Any], Elements],
    cycle_length: int,
    block_length: int,
) -> Elements:
    """In TensorFlow's order.

    A slot whose dataset has ended hands the turn on, and is filled again when its turn
    comes next.
    """
    source = iter(elements)
    slots: list[Iterator[Any] | None] = [None] * cycle_length
    made: Elements = []
    turn, given, idle = 0, 0, 0
    while idle < cycle_length:
        here = slots[turn]
        if here is None:
            element = next(source, None)
            if element is None:
                turn, given, idle = (turn + 1) % cycle_length, 0, idle + 1
                continue
            here = slots[turn] = iter(make(element))
        idle = 0
        item = next(here, None)
        if item is None:
            slots[turn] = None
            turn, given = (turn + 1) % cycle_length, 0
            continue
        made.append(item)
        given += 1
        if given == block_length:
            turn, given = (turn + 1) % cycle_length, 0
    return made


def scan(
    elements: Elements, state: Any, function: Callable[[Any, Any], tuple[Any, Any]]
) -> Elements:
    made: Elements = []
    for element in elements:
        state, out = function(state, element)
        made.append(out)
    return made


def choose(
    parts: Sequence[Elements], choices: Iterable[int], *, stop_on_empty: bool
) -> Elements:
    sources = [iter(part) for part in parts]
    made: Elements = []
    for choice in choices:
        element = next(sources[choice], None)
        if element is not None:
            made.append(element)
        elif stop_on_empty:
            break
    return made
