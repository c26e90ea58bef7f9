"""Nests: lists, tuples, named tuples and dicts in each other, with atoms in them.

Variables, per-replica values and ``None`` are atoms, as everything else is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "assert_same_structure",
    "flatten",
    "is_nested",
    "map_structure",
    "pack_sequence_as",
]


def is_nested(structure: Any) -> bool:
    """Whether this is a list, a tuple or a dict.

    >>> import replax.compat.v2 as tf
    >>> tf.nest.is_nested([1]), tf.nest.is_nested("ab")
    (True, False)
    """
    return isinstance(structure, (list, tuple, Mapping))


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The atoms of a nest in order; those of a dict in the order of its keys.

    Args:
      structure: A nest, or an atom.
      expand_composites: Taken for TensorFlow's sake; arrays have no parts here.

    >>> import replax.compat.v2 as tf
    >>> tf.nest.flatten({"b": 1, "a": (2, [None])})
    [2, None, 1]
    """
    del expand_composites
    return list(_atoms(structure))


def map_structure(
    func: Callable[..., Any], *structure: Any, check_types: bool = True
) -> Any:
    """The nest of what a function makes of the atoms of one or more nests.

    Args:
      func: Given an atom of each nest.
      *structure: Nests of one structure.
      check_types: Whether lists, tuples and so on have to be of one type, too.

    >>> import replax.compat.v2 as tf
    >>> tf.nest.map_structure(lambda x: x + 1, {"a": 1, "b": [2]})
    {'a': 2, 'b': [3]}
    >>> tf.nest.map_structure(lambda x, y: x + y, [1, 2], [10, 20])
    [11, 22]
    """
    if not structure:
        msg = "map_structure was given a function and no nest to map it over"
        raise ValueError(msg)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    columns = zip(*map(_atoms, structure), strict=True)
    return pack_sequence_as(structure[0], [func(*atoms) for atoms in columns])


def pack_sequence_as(
    structure: Any, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """A nest of this structure, with the given atoms.

    Args:
      structure: A nest that is to be copied.
      flat_sequence: As many atoms as it has.
      expand_composites: Taken for TensorFlow's sake; arrays have no parts here.

    >>> import replax.compat.v2 as tf
    >>> tf.nest.pack_sequence_as({"a": 0, "b": [0, 0]}, [1, 2, 3])
    {'a': 1, 'b': [2, 3]}
    """
    del expand_composites
    wanted = len(flatten(structure))
    if len(flat_sequence) != wanted:
        msg = (
            f"the structure {structure!r} has {wanted} atoms, and {flat_sequence!r} "
            f"has {len(flat_sequence)}; give as many"
        )
        raise ValueError(msg)
    return _packed(structure, iter(flat_sequence))


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises unless two nests differ in nothing but their atoms.

    Args:
      nest1: A nest.
      nest2: Another.
      check_types: Whether lists, tuples and so on have to be of one type, too.
      expand_composites: Taken for TensorFlow's sake; arrays have no parts here.

    Raises:
      ValueError: If one has other parts than the other.
      TypeError: If one has, say, a tuple where the other has a list.

    >>> import replax.compat.v2 as tf
    >>> tf.nest.assert_same_structure({"a": [1]}, {"a": [2]})
    """
    del expand_composites
    problem = _difference(nest1, nest2, check_types=check_types)
    if problem is not None:
        kind, what = problem
        msg = f"{nest1!r} and {nest2!r} are not of one structure: {what}"
        raise kind(msg)


def _parts(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in _keys(structure)]
    return list(structure)


def _keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError as error:
        msg = f"the keys of {dict(mapping)!r} have no order; use keys of one type"
        raise TypeError(msg) from error


def _atoms(structure: Any) -> Iterator[Any]:
    if not is_nested(structure):
        yield structure
        return
    for part in _parts(structure):
        yield from _atoms(part)


def _packed(structure: Any, atoms: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(atoms)
    parts = [_packed(part, atoms) for part in _parts(structure)]
    if isinstance(structure, Mapping):
        by_key = dict(zip(_keys(structure), parts, strict=True))
        ordered = {key: by_key[key] for key in structure}
        return _mapping_like(structure, ordered)
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    return type(structure)(parts)


def _mapping_like(structure: Any, ordered: dict[Any, Any]) -> Any:
    if hasattr(structure, "default_factory"):
        return type(structure)(structure.default_factory, ordered)
    return type(structure)(ordered)


def _difference(
    one: Any, other: Any, *, check_types: bool
) -> tuple[type[Exception], str] | None:
    if is_nested(one) != is_nested(other):
        return ValueError, f"{one!r} is not a nest like {other!r}"
    if not is_nested(one):
        return None
    if check_types and not _are_alike(one, other):
        return TypeError, f"{type(one).__name__} is not {type(other).__name__}"
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if set(one) != set(other):
            return ValueError, f"the keys are {_keys(one)} and {_keys(other)}"
    elif len(one) != len(other):
        return ValueError, f"one has {len(one)} parts, and the other {len(other)}"
    for a, b in zip(_parts(one), _parts(other), strict=True):
        problem = _difference(a, b, check_types=check_types)
        if problem is not None:
            return problem
    return None


def _are_alike(one: Any, other: Any) -> bool:
    both_mappings = isinstance(one, Mapping) and isinstance(other, Mapping)
    return both_mappings or type(one) is type(other)
