"""Consecutive elements of a dataset, column by column.

Whatever can be done for many elements at once is done on blocks: a batch of rows is one
gather for each column. Only functions of users see elements one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import jax
import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.memory import give_away
from replax._src.dataset.structure import (
    LEAF,
    Opaque,
    TreeDef,
    flatten,
    leaf_names,
)

__all__ = ["Block", "Column", "Index"]

# One array with the elements along its first axis, or a list of their leaves where the
# shapes differ.
Column = np.ndarray | list[Any]

# Which elements of a source: a range, or any numbers.
Index = range | np.ndarray


class Block:
    """Consecutive elements of one structure.

    Args:
      treedef: The structure.
      columns: The leaves of all elements, one column for each leaf.
      size: How many elements there are.
    """

    __slots__ = ("columns", "size", "treedef")

    def __init__(self, treedef: TreeDef, columns: Sequence[Column], size: int) -> None:
        self.treedef = treedef
        self.columns = columns
        self.size = size

    @classmethod
    def of_elements(cls, elements: Sequence[Any]) -> Block:
        """A block of the elements given, which have one structure."""
        treedef = LEAF
        rows: list[list[Any]] = []
        for number, element in enumerate(elements):
            leaves, structure = flatten(element)
            if number == 0:
                treedef = structure
            elif structure != treedef:
                msg = (
                    f"elements of one dataset differ in structure: "
                    f"{_shown(treedef)} and then {_shown(structure)}; let the function "
                    f"or generator give the same tuples and dicts for every element"
                )
                raise InvalidArgumentError(msg)
            rows.append(leaves)
        columns = [_stacked(column) for column in zip(*rows, strict=True)]
        return cls(treedef, columns, len(elements))

    @classmethod
    def of_element(cls, element: Any) -> Block:
        """A block of one element."""
        leaves, treedef = flatten(element)
        return cls(treedef, [_column_of_one(leaf) for leaf in leaves], 1)

    def element(self, position: int) -> Any:
        """One element, for whoever wants to have it."""
        self._give_away()
        if self.treedef is LEAF:
            return self.columns[0][position]
        return self.treedef.unflatten([c[position] for c in self.columns])

    def elements(self) -> Iterator[Any]:
        """The elements, one after the other, for whoever wants to have them."""
        self._give_away()
        if self.treedef is LEAF:
            return iter(self.columns[0])
        if not self.columns:
            return iter([self.treedef.unflatten([])] * self.size)
        rows = zip(*self.columns, strict=True)
        if self._is_flat_tuple():
            return rows
        return map(self.treedef.unflatten, rows)

    def _give_away(self) -> None:
        for column in self.columns:
            if isinstance(column, np.ndarray):
                give_away(column)
            else:
                for leaf in column:
                    give_away(leaf)

    def _is_flat_tuple(self) -> bool:
        data = self.treedef.node_data()
        return (
            data is not None
            and data[0] is tuple
            and all(child == LEAF for child in self.treedef.children())
        )

    def part(self, start: int, stop: int) -> Block:
        """The elements from ``start`` to ``stop``, without a copy."""
        if start == 0 and stop >= self.size:
            return self
        columns = [c[start:stop] for c in self.columns]
        return Block(self.treedef, columns, min(stop, self.size) - start)

    def chosen(self, positions: np.ndarray) -> Block:
        """The elements at the positions, in their order."""
        columns = [
            c.take(positions, 0)
            if isinstance(c, np.ndarray)
            else [c[i] for i in positions]
            for c in self.columns
        ]
        return Block(self.treedef, columns, len(positions))

    def frozen(self) -> Block:
        """The same elements, to be kept, in arrays that cannot be written to."""
        self._give_away()
        columns = [
            _frozen(c) if isinstance(c, np.ndarray) else [_frozen(leaf) for leaf in c]
            for c in self.columns
        ]
        return Block(self.treedef, columns, self.size)

    @staticmethod
    def joined(blocks: Sequence[Block]) -> Block:
        """The elements of several blocks, one after the other."""
        if len(blocks) == 1:
            return blocks[0]
        first = blocks[0]
        for block in blocks:
            if block.treedef != first.treedef:
                msg = (
                    f"elements of one dataset differ in structure: "
                    f"{_shown(first.treedef)} and then {_shown(block.treedef)}; give "
                    f"the same tuples and dicts for every element"
                )
                raise InvalidArgumentError(msg)
        columns = [
            _joined(column) for column in zip(*(b.columns for b in blocks), strict=True)
        ]
        return Block(first.treedef, columns, sum(b.size for b in blocks))

    def as_element(self, number: int = 0) -> Block:
        """A block of one element: the batch of all elements here.

        Args:
          number: The number of the first element, for the error.

        Raises:
          InvalidArgumentError: The elements differ in shape or dtype.
        """
        columns: list[Column] = []
        for position, column in enumerate(self.columns):
            # Chosen from elements that differ, these need not differ.
            stacked = _stacked(column) if isinstance(column, list) else column
            if isinstance(stacked, list):
                self._refuse(position, stacked, number)
            columns.append(np.asarray(stacked)[None])
        return Block(self.treedef, columns, 1)

    def _refuse(self, position: int, column: list[Any], number: int) -> NoReturn:
        name = leaf_names(self.treedef)[position]
        where = f" in {name}" if name else ""
        first = column[0]
        if isinstance(first, Opaque):
            msg = (
                f"element {number} is a dataset{where}, and datasets cannot be put "
                f"into a batch; use flat_map(lambda window: window.batch(n)) first"
            )
            raise InvalidArgumentError(msg)
        for offset, leaf in enumerate(column):
            if _kind(leaf) != _kind(first):
                msg = (
                    f"elements of different shapes or dtypes cannot be put into one "
                    f"batch: element {number} is {_described(first)}{where}, and "
                    f"element {number + offset} is {_described(leaf)}; use "
                    f"padded_batch, or map them to one shape and dtype first"
                )
                raise InvalidArgumentError(msg)
        msg = f"leaves that are alike have not been brought together: {column}"
        raise AssertionError(msg)

    def __reduce__(self) -> tuple[Any, ...]:
        # JAX pickles structures of its own containers only; a nest of the numbers of
        # the leaves is pickled like any value.
        nest = self.treedef.unflatten(range(self.treedef.num_leaves))
        return _unpickled, (nest, self.columns, self.size)

    @property
    def nbytes(self) -> int:
        """How many bytes the arrays take; strings are guessed at."""
        return sum(
            c.nbytes if isinstance(c, np.ndarray) else sum(_nbytes(x) for x in c)
            for c in self.columns
        )


def _unpickled(nest: Any, columns: Sequence[Column], size: int) -> Block:
    treedef = jax.tree_util.tree_structure(nest)
    return Block(LEAF if treedef == LEAF else treedef, columns, size)


def _frozen(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def _column_of_one(leaf: Any) -> Column:
    if isinstance(leaf, np.ndarray):
        return leaf[None]
    if isinstance(leaf, np.generic):
        return np.array([leaf])
    if isinstance(leaf, (bytes, str)):
        return _objects([leaf])
    return [leaf]


def _objects(leaves: Sequence[Any]) -> np.ndarray:
    column = np.empty(len(leaves), object)
    column[:] = leaves
    return column


def _stacked(leaves: Sequence[Any]) -> Column:
    first = leaves[0]
    if isinstance(first, (bytes, str)):
        return _objects(leaves) if all(map(_is_string, leaves)) else list(leaves)
    if isinstance(first, Opaque):
        return list(leaves)
    kind = _kind(first)
    for leaf in leaves:
        if _kind(leaf) != kind:
            return list(leaves)
    if isinstance(first, np.ndarray):
        return np.stack(leaves)
    return np.array(leaves)


def _is_string(leaf: Any) -> bool:
    return isinstance(leaf, (bytes, str))


def _kind(leaf: Any) -> Any:
    """What leaves of one column have in common."""
    if isinstance(leaf, (np.ndarray, np.generic)):
        # Strings of NumPy have their length in their dtype.
        kind = leaf.dtype
        return leaf.shape, (kind.kind if kind.kind in "US" else kind)
    return ((), np.dtype(object)) if isinstance(leaf, (bytes, str)) else type(leaf)


def _joined(columns: Sequence[Column]) -> Column:
    first = columns[0]
    if isinstance(first, np.ndarray) and all(
        isinstance(c, np.ndarray) and _fits(c, first) for c in columns
    ):
        return np.concatenate(columns)
    return [leaf for column in columns for leaf in column]


def _fits(column: np.ndarray, first: np.ndarray) -> bool:
    if column.shape[1:] != first.shape[1:]:
        return False
    return column.dtype == first.dtype or (
        column.dtype.kind == first.dtype.kind and first.dtype.kind in "US"
    )


def _described(leaf: Any) -> str:
    if isinstance(leaf, (np.ndarray, np.generic)):
        return f"{leaf.dtype.name}{list(leaf.shape)}"
    return type(leaf).__name__


def _shown(treedef: TreeDef) -> str:
    return str(treedef).removeprefix("PyTreeDef(").removesuffix(")")


def _nbytes(leaf: Any) -> int:
    return leaf.nbytes if hasattr(leaf, "nbytes") else len(leaf)
