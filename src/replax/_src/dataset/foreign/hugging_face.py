"""Datasets of Hugging Face."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from replax._src.dataset.block import Block, Index
from replax._src.dataset.foreign.arrow import block_of, spec_of
from replax._src.dataset.foreign.host import as_array_or_tuple, host_nest, is_of
from replax._src.dataset.foreign.numbered import ByNumber
from replax._src.dataset.foreign.reading import InOrder, Reader
from replax._src.dataset.index import as_array
from replax._src.dataset.node import Node, Pass
from replax._src.dataset.structure import ElementSpec

__all__ = ["taken"]


def taken(source: Any, signature: ElementSpec | None) -> Node | None:
    """The plan of a dataset of Hugging Face; None if the source is none."""
    if is_of(source, "datasets.arrow_dataset", "Dataset"):
        size = len(source)
        spec = None if source.format["type"] else _plain_spec(source.features)
        if signature is None and spec is not None:
            return _Table(source=source, size=size, signature=spec)
        return _Rows(source=source, size=size, signature=signature)
    if is_of(source, "datasets.iterable_dataset", "IterableDataset"):
        if signature is None and not _has_format(source):
            signature = _plain_spec(source.features)
        return _Iterable(source=source, signature=signature)
    splits = ("DatasetDict", "IterableDatasetDict")
    if any(is_of(source, "datasets.dataset_dict", name) for name in splits):
        names = ", ".join(map(repr, source))
        msg = (
            f"as_dataset got a {type(source).__name__} of the splits {names}; choose "
            f"one: as_dataset(source[name])"
        )
        raise TypeError(msg)
    return None


def _has_format(source: Any) -> bool:
    return getattr(source, "_formatting", None) is not None


def _plain_spec(features: Any) -> ElementSpec | None:
    """The spec of rows without what has to be decoded, such as images."""
    if not features or not all(map(_is_plain, features.values())):
        return None
    try:
        return spec_of(features.arrow_schema)
    except TypeError:
        return None


def _is_plain(feature: Any) -> bool:
    if isinstance(feature, dict):
        return all(map(_is_plain, feature.values()))
    kind = type(feature).__name__
    if kind in {"List", "LargeList", "Sequence"}:
        return _is_plain(feature.feature)
    return kind in {"Value", "ClassLabel"}


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Rows(ByNumber):
    """The rows of a dataset as it formats them, many with one call."""

    def label(self) -> str:
        return f"as_dataset(datasets.Dataset({self.size}))"

    def host(self, element: Any) -> Any:
        return host_nest(element, as_array_or_tuple)

    def read(self, numbers: Sequence[int], pass_: Pass) -> Sequence[Any]:
        del pass_
        return self.read_together(self._rows, numbers)

    def _rows(self, numbers: list[int]) -> list[Any]:
        columns: dict[str, Any] = self.source[numbers]
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Table(_Rows):
    """The rows of a dataset of numbers, strings and lists: columns, as they are."""

    @functools.cached_property
    def _tables(self) -> Any:
        return self.source.with_format("arrow", columns=self.source.format["columns"])

    def rows(self, index: Index, pass_: Pass) -> Block:
        if isinstance(index, range) and index.step == 1:
            key: Any = slice(index.start, index.stop)
        else:
            key = as_array(index)
        del pass_
        return self.guarded(self._block, int(index[0]), key, index)

    def _block(self, key: Any, index: Index) -> Block:
        return block_of(self._tables[key], lambda place: int(index[place]))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _Iterable(InOrder):
    """The elements of an ``IterableDataset``, with its positions where they are exact.

    Each pass reads a copy: an ``IterableDataset`` keeps the position of its latest
    iteration in itself.
    """

    def label(self) -> str:
        return "as_dataset(datasets.IterableDataset)"

    def host(self, element: Any) -> Any:
        return host_nest(element, as_array_or_tuple)

    def begin(self) -> Reader:
        if not _has_exact_positions(self.source):
            return Reader(iter(self.source))
        return _StatefulReader(copy.deepcopy(self.source))


# Steps from whose positions nothing is lost or repeated; a buffer that shuffles, for
# one, is not in a position.
_EXACT = frozenset(
    {
        "ArrowExamplesIterable",
        "ExamplesIterable",
        "FilteredExamplesIterable",
        "MappedExamplesIterable",
        "SelectColumnsIterable",
        "SkipExamplesIterable",
        "TakeExamplesIterable",
    }
)


def _has_exact_positions(source: Any) -> bool:
    step: Any = getattr(source, "_ex_iterable", None)
    if _has_format(source) or not hasattr(source, "load_state_dict"):
        return False
    while step is not None:
        if type(step).__name__ not in _EXACT:
            return False
        step = getattr(step, "ex_iterable", None)
    return True


class _StatefulReader(Reader):
    def __init__(self, source: Any) -> None:
        super().__init__(iter(source))
        self._source = source

    def state(self) -> Any:
        return self._source.state_dict()

    def restore(self, state: Any) -> None:
        self._source.load_state_dict(state)
        self.iterator = iter(self._source)
