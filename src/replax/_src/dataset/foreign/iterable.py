"""Anything that Python can iterate over, and functions that give such."""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from replax._src.dataset.foreign.host import as_tuple_of_tensors, host_nest
from replax._src.dataset.foreign.numbered import ByNumber
from replax._src.dataset.foreign.reading import InOrder, Reader
from replax._src.dataset.node import UNKNOWN, Node, Pass
from replax._src.dataset.structure import ElementSpec

__all__ = ["taken"]


def taken(source: Any, signature: ElementSpec | None) -> Node:
    """The plan of an iterable, of a function, or of what has elements by number.

    Raises:
      TypeError: It is an array or a list, or nothing of the kind.
    """
    _refuse_values(source)
    if _has_numbers(source):
        return _Numbered(source=source, size=len(source), signature=signature)
    if isinstance(source, Iterator):
        return _Once(source=_Single(source), signature=signature)
    if isinstance(source, Iterable):
        return _Iterated(source=source, size=_length(source), signature=signature)
    if callable(source):
        return _Made(source=source, signature=signature)
    msg = (
        f"as_dataset got {source!r}, which cannot be iterated over; give a dataset of "
        f"tf.data, Grain, torch or Hugging Face, an iterable, or a function that "
        f"returns one"
    )
    raise TypeError(msg)


def _refuse_values(source: Any) -> None:
    if isinstance(source, (str, bytes, os.PathLike)):
        msg = (
            f"as_dataset got {source!r}; to read a file give its name to "
            f"TFRecordDataset, TextLineDataset, ParquetDataset or ArrayRecordDataset"
        )
        raise TypeError(msg)
    kinds = (Sequence, Mapping)
    if isinstance(source, kinds) or _is_array(source):
        kind = f"{type(source).__module__}.{type(source).__name__}"
        msg = (
            f"as_dataset got a {kind.removeprefix('builtins.')}, whose rows may be "
            f"meant or whose elements; write Dataset.from_tensor_slices(...) for a "
            f"dataset of the rows of arrays, or as_dataset(lambda: values) to iterate"
        )
        raise TypeError(msg)


def _is_array(source: Any) -> bool:
    return any(
        hasattr(type(source), name)
        for name in ("__array__", "__arrow_c_stream__", "__dataframe__")
    )


def _has_numbers(source: Any) -> bool:
    """Whether it is a source as Grain and torch know them, without being theirs."""
    kind = type(source)
    if not (hasattr(kind, "__getitem__") and hasattr(kind, "__len__")):
        return False
    return hasattr(kind, "__getitems__") or not hasattr(kind, "__iter__")


def _length(source: Any) -> int:
    try:
        return len(source)
    except (TypeError, NotImplementedError):
        return UNKNOWN


def _name(source: Any) -> str:
    return getattr(source, "__name__", type(source).__name__)


class _Elements:
    """How elements of sources look that nothing is known of."""

    def host(self, element: Any) -> Any:
        """An element as NumPy arrays, numbers, and strings."""
        if "torch" not in sys.modules:
            return element
        return host_nest(element, as_tuple_of_tensors)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Numbered(_Elements, ByNumber):
    """The elements of an object with a length and ``[number]``."""

    def label(self) -> str:
        return f"as_dataset({_name(self.source)}({self.size}))"

    def read(self, numbers: Sequence[int], pass_: Pass) -> Sequence[Any]:
        del pass_
        together = getattr(self.source, "__getitems__", None)
        if together is not None:
            return self.read_together(together, numbers)
        return [self.guarded(self.source.__getitem__, n, n) for n in numbers]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Iterated(_Elements, InOrder):
    """The elements of an iterable, which each pass iterates over anew."""

    def label(self) -> str:
        return f"as_dataset({_name(self.source)})"

    def begin(self) -> Reader:
        return Reader(iter(self.source))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Made(_Elements, InOrder):
    """The elements of what a function returns, which each pass calls anew."""

    def label(self) -> str:
        return f"as_dataset({_name(self.source)})"

    def begin(self) -> Reader:
        make: Callable[[], Any] = self.source
        made = make()
        try:
            return Reader(iter(made))
        except TypeError:
            msg = (
                f"{self.label()}: the function gave {made!r}, which cannot be iterated "
                f"over; give a function that returns a generator or a list"
            )
            raise TypeError(msg) from None


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Once(_Elements, InOrder):
    """The elements of an iterator, for one pass."""

    def label(self) -> str:
        return f"as_dataset({_name(self.source.iterator)})"

    def begin(self) -> Reader:
        return Reader(self.source.begin())

    def first_spec(self) -> ElementSpec:
        for element in self.source.first():
            return ElementSpec.of(self.host(element))
        return super().first_spec()


class _Single:
    """An iterator, whose first element can be looked at."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator
        self._begun = False
        self._first: list[Any] | None = None
        self._lock = threading.Lock()

    def first(self) -> list[Any]:
        """The first element; none if there is none."""
        with self._lock:
            if self._first is None:
                self._first = list(itertools.islice(self.iterator, 1))
            return self._first

    def begin(self) -> Iterator[Any]:
        """All elements, one time."""
        if self._begun:
            msg = (
                f"as_dataset got the iterator {_name(self.iterator)}, which can be "
                f"iterated over once, and that has been done; for another pass give a "
                f"function that makes it, as_dataset(lambda: ...), or keep its "
                f"elements in a list: as_dataset(lambda: elements)"
            )
            raise RuntimeError(msg)
        self._begun = True
        return self._all()

    def _all(self) -> Iterator[Any]:
        yield from self.first()
        yield from self.iterator
