"""Datasets as Grain has them."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from typing import Any

from replax._src.dataset.iterator import DatasetIterator
from replax._src.dataset.node import INFINITE, Node
from replax._src.dataset.seeding import chances, with_seeds

__all__ = ["as_grain"]


def as_grain(plan: Node, iterate: Callable[[], DatasetIterator]) -> Any:
    """A ``grain.MapDataset`` of an indexed plan; otherwise a ``grain.IterDataset``.

    Args:
      plan: The plan, as it is executed.
      iterate: Gives an iterator over it.
    """
    try:
        # Optional, and imported by nobody who does not use it.
        import grain  # noqa: PLC0415
    except ImportError as error:
        msg = (
            "to_grain makes a dataset of the package grain, which is not installed; "
            "run: pip install 'replax[grain]'"
        )
        raise ImportError(msg) from error
    untyped: Any = grain
    if plan.in_order:
        return _iter_dataset(untyped)(iterate)
    return _map_dataset(untyped)(plan)


@functools.cache
def _map_dataset(grain: Any) -> Any:
    """A class that derives from Grain's."""

    class ReplaxMapDataset(grain.MapDataset):
        """The elements of a plan by number; behind its end those of later passes."""

        def __init__(self, plan: Node) -> None:
            super().__init__()
            self._plan = with_seeds(plan, [chance.seed for chance in chances(plan)])
            self._size = plan.cardinality()

        def __len__(self) -> int:
            return sys.maxsize if self._size == INFINITE else self._size

        def __getitem__(self, index: Any) -> Any:
            if isinstance(index, slice):
                return self.slice(index)
            passes, number = divmod(int(index), len(self))
            return self._plan.rows(range(number, number + 1), (passes,)).element(0)

    return ReplaxMapDataset


@functools.cache
def _iter_dataset(grain: Any) -> Any:
    """A class that derives from Grain's."""
    iterator_class = _iterator(grain)

    class ReplaxIterDataset(grain.IterDataset):
        """The elements of a plan in order."""

        def __init__(self, iterate: Callable[[], DatasetIterator]) -> None:
            super().__init__()
            self._iterate = iterate

        def __iter__(self) -> Any:
            return iterator_class(self._iterate())

    return ReplaxIterDataset


def _iterator(grain: Any) -> Any:
    class ReplaxIterator(grain.DatasetIterator):
        """An iterator whose position has the form that Grain recommends: one string."""

        def __init__(self, iterator: DatasetIterator) -> None:
            super().__init__()
            self._iterator = iterator
            self._position: str | None = None  # as it was set

        def __next__(self) -> Any:
            self._assert_not_closed()
            self._position = None
            return next(self._iterator)

        def get_state(self) -> dict[str, Any]:
            if self._position is None:
                self._position = json.dumps(self._iterator.get_state())
            return {"position": self._position}

        def set_state(self, state: dict[str, Any]) -> None:
            self._iterator.set_state(json.loads(state["position"]))
            self._position = state["position"]

        def close(self) -> None:
            super().close()
            self._iterator.close()

    return ReplaxIterator
