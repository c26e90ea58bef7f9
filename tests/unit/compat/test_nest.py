"""Nests; this part of the facade is plain Python."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import pytest

from replax._src.compat import nest


class Point(NamedTuple):
    x: Any
    y: Any


NESTS = [
    1,
    None,
    [],
    [1, (2, [3])],
    {"b": 1, "a": [2, None]},
    Point(1, {"k": Point(2, 3)}),
    collections.OrderedDict(b=1, a=2),
    collections.defaultdict(list, b=1, a=2),
]


@pytest.mark.parametrize("structure", NESTS, ids=repr)
def test_packing_what_was_flattened_gives_it_back(structure: Any) -> None:
    again = nest.pack_sequence_as(structure, nest.flatten(structure))
    assert again == structure
    assert type(again) is type(structure)
    nest.assert_same_structure(structure, again)


def test_dicts_are_flattened_in_the_order_of_their_keys_and_keep_theirs() -> None:
    structure = {"b": 1, "a": 2}
    assert nest.flatten(structure) == [2, 1]
    mapped = nest.map_structure(lambda x: x * 10, structure)
    assert list(mapped.items()) == [("b", 10), ("a", 20)]


@pytest.mark.parametrize(
    ("one", "other", "kind", "what"),
    [
        ([1], (1,), TypeError, "list is not tuple"),
        (Point(1, 2), (1, 2), TypeError, "Point is not tuple"),
        ([1, 2], [1], ValueError, "one has 2 parts, and the other 1"),
        ({"a": 1}, {"b": 1}, ValueError, r"\['a'\] and \['b'\]"),
        ([[1]], [1], ValueError, "not a nest like"),
    ],
)
def test_other_structures_are_refused(
    one: Any, other: Any, kind: type[Exception], what: str
) -> None:
    with pytest.raises(kind, match=what):
        nest.assert_same_structure(one, other)
    with pytest.raises(kind, match=what):
        nest.map_structure(lambda x, y: x, one, other)


def test_types_may_be_left_out_of_the_comparison() -> None:
    assert nest.map_structure(lambda x, y: x + y, [1], (2,), check_types=False) == [3]


def test_too_few_atoms_are_refused() -> None:
    with pytest.raises(ValueError, match=r"has 2 atoms, and \[1\] has 1; give as many"):
        nest.pack_sequence_as([0, 0], [1])


def test_keys_without_an_order_are_refused() -> None:
    with pytest.raises(TypeError, match="keys of one type"):
        nest.flatten({1: 1, "a": 2})
