"""What one replica gets of the arguments of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from replax._src.core import host
from replax._src.core.jax_compat import ArrayClass
from replax._src.values.distributed import DistributedValues
from replax._src.values.handle import is_handle
from replax._src.values.variable import Variable

__all__ = ["Components"]


class Components:
    """The arguments of a run, to be taken apart for each replica.

    Args:
      args: The positional arguments.
      kwargs: The arguments by name.
      count: How many replicas there are in this process.
    """

    def __init__(self, args: Any, kwargs: Any, count: int) -> None:
        self._leaves, self._treedef = jax.tree_util.tree_flatten(
            (args, kwargs), is_leaf=is_handle
        )
        # What the replicas got of it, to know it by.
        self._given: dict[int, tuple[Any, Any]] = {}
        for position, leaf in enumerate(self._leaves):
            if _is_split(leaf) and len(leaf.placed) != count:
                msg = (
                    f"argument {self._spelled(position)} has {len(leaf.placed)} "
                    f"components, but the strategy has {count} replicas here; make "
                    f"per-replica values with the strategy that runs them"
                )
                raise ValueError(msg)

    def of(self, index: int, place: Callable[[Any], Any]) -> Any:
        """The ``(args, kwargs)`` of one replica.

        Args:
          index: Which local replica.
          place: Puts an array where the replica can use it.
        """
        mine: list[Any] = []
        for position, leaf in enumerate(self._leaves):
            split = _is_split(leaf)
            part = leaf.placed[index] if split else leaf
            if isinstance(part, ArrayClass):
                part = place(part)
            elif isinstance(part, np.ndarray) and host.is_array(part):
                part = place(self._copied(part, position))
            if part is not leaf and not split:
                self._given[id(part)] = (part, leaf)
            mine.append(part)
        return self._treedef.unflatten(mine)

    def original(self, value: Any) -> Any:
        """The argument that a replica's value is its copy of; else the value."""
        return self._given.get(id(value), (value, value))[1]

    def _copied(self, array: np.ndarray, position: int) -> np.ndarray:
        """Memory of its own: the caller may write to the given one afterwards."""
        try:
            return np.array(host.canonical(array, "it"))
        except OverflowError as error:
            msg = f"argument {self._spelled(position)}: {error}"
            raise OverflowError(msg) from None

    def _spelled(self, position: int) -> str:
        """Where a leaf is, as it would be written behind ``args`` or ``kwargs``."""
        tree = self._treedef.unflatten(range(len(self._leaves)))
        paths: Sequence[Any] = jax.tree_util.tree_leaves_with_path(tree)
        first, *rest = next(path for path, number in paths if number == position)
        by_name = "by name " if first.idx else ""
        return f"{by_name}{jax.tree_util.keystr(tuple(rest))}"


def _is_split(leaf: Any) -> bool:
    return isinstance(leaf, DistributedValues) and not isinstance(leaf, Variable)
