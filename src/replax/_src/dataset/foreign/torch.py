"""Datasets and loaders of torch."""

from __future__ import annotations

import dataclasses
import itertools
import weakref
from collections.abc import Sequence
from typing import Any

from replax._src.dataset.foreign.host import as_array_or_tuple, host_nest, is_of
from replax._src.dataset.foreign.numbered import ByNumber
from replax._src.dataset.foreign.reading import InOrder, Reader
from replax._src.dataset.node import UNKNOWN, Node, Pass
from replax._src.dataset.structure import ElementSpec

__all__ = ["taken"]

_MODULE = "torch.utils.data"


def taken(source: Any, signature: ElementSpec | None) -> Node | None:
    """The plan of a dataset or loader of torch; None if the source is none."""
    if is_of(source, _MODULE, "DataLoader"):
        return _Loader(source=source, size=_batches(source), signature=signature)
    if is_of(source, _MODULE, "IterableDataset"):
        return _Iterable(source=source, size=_length(source), signature=signature)
    if not is_of(source, _MODULE, "Dataset"):
        return None
    size = _length(source)
    if size == UNKNOWN:
        msg = (
            f"{type(source).__name__} is a torch.utils.data.Dataset without a length, "
            f"so that it is not known which elements it has; give it __len__, or make "
            f"it an IterableDataset"
        )
        raise TypeError(msg)
    return _Mapped(source=source, size=size, signature=signature)


def _length(source: Any) -> int:
    try:
        return len(source)
    except (TypeError, NotImplementedError):
        return UNKNOWN


def _batches(loader: Any) -> int:
    # Of an iterable dataset torch estimates it, and workers make it another number.
    if is_of(loader.dataset, _MODULE, "IterableDataset"):
        return UNKNOWN
    return _length(loader)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Mapped(ByNumber):
    """The elements of a map-style dataset."""

    def label(self) -> str:
        return f"as_dataset(torch {type(self.source).__name__}({self.size}))"

    def host(self, element: Any) -> Any:
        return host_nest(element, as_array_or_tuple)

    def read(self, numbers: Sequence[int], pass_: Pass) -> Sequence[Any]:
        del pass_
        source = self.source
        together = getattr(source, "__getitems__", None)
        if together is not None and len(numbers) > 1:
            return self.read_together(together, numbers)
        return [self.guarded(source.__getitem__, n, n) for n in numbers]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Iterable(InOrder):
    """The elements of an iterable dataset; its position is their number."""

    def label(self) -> str:
        return f"as_dataset(torch {type(self.source).__name__})"

    def host(self, element: Any) -> Any:
        return host_nest(element, as_array_or_tuple)

    def begin(self) -> Reader:
        return Reader(iter(self.source))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Loader(InOrder):
    """The batches of a loader; its position is their number."""

    def label(self) -> str:
        return f"as_dataset(torch {type(self.source).__name__})"

    def host(self, element: Any) -> Any:
        # Collating makes lists of tuples, and tuples of columns of strings.
        return host_nest(_with_columns(element), as_array_or_tuple)

    def begin(self) -> Reader:
        return _LoaderReader(self.source)


def _with_columns(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_columns(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        if value and all(isinstance(item, (str, bytes)) for item in value):
            return list(value)
        return type(value)(_with_columns(item) for item in value)
    return value


class _LoaderReader(Reader):
    """A loader with persistent workers has one pass at a time: the latest."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._turn = _TURNS[loader] = next(_COUNTER)
        super().__init__(iter(loader))

    def next(self) -> Any:
        if self._loader.persistent_workers and _TURNS[self._loader] != self._turn:
            msg = (
                "another pass over a torch DataLoader has begun, and as its "
                "persistent_workers serve one pass only, this one cannot go on; give "
                "each pass a DataLoader of its own, or persistent_workers=False"
            )
            raise RuntimeError(msg)
        return super().next()

    def close(self) -> None:
        # Its workers end when nobody has its iterator.
        self.iterator = iter(())


_COUNTER = itertools.count()
_TURNS: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
