"""The structure of elements: nests of arrays, in which a list is an array."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from replax._src.core.specs import TensorSpec

__all__ = [
    "LEAF",
    "ElementSpec",
    "Opaque",
    "TreeDef",
    "as_column",
    "as_leaf",
    "call",
    "flatten",
    "leaf_names",
]

TreeDef = jax.tree_util.PyTreeDef

# The structure of an element that is a single array.
LEAF: TreeDef = jax.tree_util.tree_structure(0)

_PLAIN = frozenset({np.ndarray, bytes, int, float, bool, complex, str})
_NUMBERS = frozenset({int, float, bool, complex})


class Opaque:
    """Base of what may be a leaf of an element without being an array."""

    __slots__ = ()


def flatten(value: Any) -> tuple[list[Any], TreeDef]:
    """The leaves of an element, as host values, and its structure."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, np.generic):
        return [as_leaf(value)], LEAF
    leaves, treedef = jax.tree_util.tree_flatten(value, is_leaf=_is_list)
    hosts = [as_leaf(leaf) for leaf in leaves]
    # One object, so that a comparison by identity tells.
    return hosts, LEAF if treedef == LEAF else treedef


def _is_list(value: Any) -> bool:
    return type(value) is list


def as_leaf(value: Any) -> Any:
    """One leaf as a NumPy array or number, or as ``bytes``.

    Raises:
      TypeError: It is none of these and cannot be made one.
    """
    kind = type(value)
    if kind is np.ndarray or isinstance(value, (bytes, np.generic)):
        return value
    if kind in _NUMBERS:
        return np.asarray(value)[()]
    if isinstance(value, Opaque):
        return value
    try:
        array = np.asarray(value)
    except ValueError as error:
        msg = (
            f"an element of a dataset has {value!r} in it, which makes no array: "
            f"{error}; where rows differ in length give them one by one, with "
            f"from_generator"
        )
        raise ValueError(msg) from error
    if array.dtype == object and not _holds_strings(array):
        what = f"{value!r}" if kind is list else f"a {kind.__module__}.{kind.__name__}"
        msg = (
            f"an element of a dataset has {what} in it, which is no array of numbers "
            f"or strings; give NumPy or JAX arrays, numbers, strings, or tuples and "
            f"dicts of them"
        )
        raise TypeError(msg)
    return array[()]


def _holds_strings(array: np.ndarray) -> bool:
    return all(isinstance(item, (bytes, str)) for item in array.flat)


def as_column(values: Any) -> np.ndarray:
    """Rows that were given as one array; its first axis counts the elements."""
    leaf = as_leaf(values)
    if not isinstance(leaf, np.ndarray) or leaf.ndim == 0:
        msg = (
            f"from_tensor_slices got {values!r}, which has no first axis to slice; "
            f"for a dataset of one element use from_tensors"
        )
        raise ValueError(msg)
    # Not np.ndarray.view alone: a np.memmap would make every batch a np.memmap.
    column = np.asarray(leaf).view()
    column.flags.writeable = False
    return column


def call(function: Any, element: Any) -> Any:
    """Calls a function of users with an element: tuples are its arguments."""
    if type(element) is tuple:
        return function(*element)
    return function(element)


def leaf_names(treedef: TreeDef) -> list[str]:
    """How messages name each leaf: ``""`` for an element that is one array."""
    tree = treedef.unflatten(range(treedef.num_leaves))
    paths = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [jax.tree_util.keystr(path) for path, _ in paths]


@dataclasses.dataclass(frozen=True)
class ElementSpec:
    """What the elements of a dataset look like.

    Attributes:
      treedef: Their structure.
      leaves: Shape and dtype of each leaf.
    """

    treedef: TreeDef
    leaves: tuple[TensorSpec | Any, ...]

    @classmethod
    def of(cls, element: Any) -> ElementSpec:
        """The spec of one element."""
        leaves, treedef = flatten(element)
        return cls(treedef, tuple(leaf_spec(leaf) for leaf in leaves))

    @classmethod
    def from_tree(cls, tree: Any) -> ElementSpec:
        """The spec that is written as a nest of TensorSpecs."""
        leaves, treedef = jax.tree_util.tree_flatten(tree)
        return cls(treedef, tuple(leaves))

    def tree(self) -> Any:
        """A nest of TensorSpecs, as users see it."""
        return self.treedef.unflatten(self.leaves)

    def batched(self, size: int | None) -> ElementSpec:
        """The spec of batches of such elements."""
        return self.with_leaves(
            TensorSpec((size, *leaf.shape), leaf.dtype)
            if isinstance(leaf, TensorSpec) and leaf.shape.rank is not None
            else leaf
            for leaf in self.leaves
        )

    def unbatched(self) -> ElementSpec:
        """The spec of the rows of such elements."""
        return self.with_leaves(
            TensorSpec(leaf.shape[1:], leaf.dtype) if leaf.shape.rank else leaf
            for leaf in self.leaves
        )

    def with_leaves(self, leaves: Iterable[Any]) -> ElementSpec:
        return ElementSpec(self.treedef, tuple(leaves))

    def joined(self, other: ElementSpec) -> ElementSpec:
        """A spec that both fit; shapes are opened where they differ."""
        pairs = zip(self.leaves, other.leaves, strict=True)
        return self.with_leaves(_joined(a, b) for a, b in pairs)


def leaf_spec(leaf: Any) -> Any:
    if isinstance(leaf, Opaque):
        return leaf
    if isinstance(leaf, (bytes, str)):
        return TensorSpec((), object)
    return TensorSpec(leaf.shape, leaf.dtype)


def _joined(one: Any, other: Any) -> Any:
    if not (isinstance(one, TensorSpec) and isinstance(other, TensorSpec)):
        return one
    if one.shape == other.shape:
        return one
    if one.shape.rank is None or one.shape.rank != other.shape.rank:
        return TensorSpec(None, one.dtype)
    dims: Sequence[int | None] = [
        a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)
    ]
    return TensorSpec(dims, one.dtype)


def pair() -> TreeDef:
    """The structure of two arrays side by side."""
    return jax.tree_util.tree_structure((0, 0))
