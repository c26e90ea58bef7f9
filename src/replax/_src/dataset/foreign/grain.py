"""Datasets and loaders of Grain."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from typing import Any

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.foreign.host import as_array_or_tuple, host_nest, is_of
from replax._src.dataset.foreign.numbered import ByNumber
from replax._src.dataset.foreign.reading import InOrder, Reader
from replax._src.dataset.node import INFINITE, Node, Pass
from replax._src.dataset.structure import ElementSpec

__all__ = ["taken"]

# How many elements a later epoch may be away; nobody has more.
_EPOCHS = 1 << 20


def taken(source: Any, signature: ElementSpec | None) -> Node | None:
    """The plan of a dataset or loader of Grain; None if the source is none."""
    if is_of(source, "grain", "MapDataset"):
        if _filters(source):
            return _InOrder(source=source.to_iter_dataset(), signature=signature)
        size = len(source)
        if size == sys.maxsize:
            size = INFINITE
        return _ByNumber(source=source, size=size, signature=signature)
    if is_of(source, "grain", "IterDataset") or is_of(source, "grain", "DataLoader"):
        return _InOrder(source=source, signature=signature)
    return None


def _filters(source: Any) -> bool:
    """Whether elements are left out, so that numbers of Grain are none of elements."""
    if type(source).__name__ == "FilterMapDataset":
        return True
    return any(map(_filters, getattr(source, "parents", ())))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _ByNumber(ByNumber):
    """The elements of a ``MapDataset``.

    Numbers behind its end are those of later epochs, for which Grain shuffles anew:
    each round of a ``repeat`` has one.
    """

    def label(self) -> str:
        size = "..." if self.size == INFINITE else self.size
        return f"as_dataset(grain.MapDataset({size}))"

    @property
    def varies(self) -> bool:
        return True

    def host(self, element: Any) -> Any:
        return host_nest(element, as_array_or_tuple)

    def read(self, numbers: Sequence[int], pass_: Pass) -> Sequence[Any]:
        first = 0
        if self.size != INFINITE:
            for number in pass_:
                first = first * _EPOCHS + number
            first *= self.size
        return [self.guarded(self._element, n, first + n) for n in numbers]

    def _element(self, number: int) -> Any:
        element = self.source[number]
        if element is None:
            msg = (
                f"element {number} of a grain.MapDataset is None: it leaves elements "
                f"out, and has no numbers for the others; give its .to_iter_dataset()"
            )
            raise InvalidArgumentError(msg)
        return element


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _InOrder(InOrder):
    """The elements of an ``IterDataset`` or ``DataLoader``, with Grain's positions."""

    def label(self) -> str:
        return f"as_dataset(grain.{type(self.source).__name__})"

    def host(self, element: Any) -> Any:
        return host_nest(element, as_array_or_tuple)

    def begin(self) -> Reader:
        return _GrainReader(iter(self.source))


class _GrainReader(Reader):
    def state(self) -> Any:
        iterator: Any = self.iterator
        return iterator.get_state()

    def restore(self, state: Any) -> None:
        iterator: Any = self.iterator
        iterator.set_state(state)

    def close(self) -> None:
        close = getattr(self.iterator, "close", None)
        if close is not None:
            close()
