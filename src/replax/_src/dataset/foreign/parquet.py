"""Rows of Parquet files, row group by row group."""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.block import Block
from replax._src.dataset.foreign.arrow import block_of, spec_of
from replax._src.dataset.foreign.reading import noted
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["parquet_rows"]

# How many rows are decoded at a time.
_BATCH = 4096


def parquet_rows(names: Sequence[str], columns: Sequence[str] | None) -> Node:
    """The rows of the files; only what is written at their ends is read before."""
    arrow, parquet = _imported()
    schema: Any = None
    groups: list[tuple[str, int, int]] = []
    for name in names:
        with parquet.ParquetFile(name) as file:
            found = _chosen(arrow, file.schema_arrow, columns, name)
            if schema is None:
                schema = found
            elif not found.equals(schema):
                msg = (
                    f"{name} has the columns {_in_words(found)}, and {names[0]} has "
                    f"{_in_words(schema)}; give files of the same columns, or choose "
                    f"common ones with columns=[...]"
                )
                raise InvalidArgumentError(msg)
            metadata = file.metadata
            groups += [
                (name, group, metadata.row_group(group).num_rows)
                for group in range(metadata.num_row_groups)
            ]
    return _ParquetRows(element=spec_of(schema), columns=schema.names, groups=groups)


def _imported() -> tuple[Any, Any]:
    try:
        # Optional, and imported by nobody who does not read such files.
        import pyarrow  # noqa: ICN001, PLC0415
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        msg = (
            "ParquetDataset reads with the package pyarrow, which is not installed; "
            "run: pip install 'replax[parquet]'"
        )
        raise ImportError(msg) from error
    return pyarrow, parquet


def _chosen(arrow: Any, schema: Any, columns: Sequence[str] | None, name: str) -> Any:
    if columns is None:
        return schema.remove_metadata()
    missing = [column for column in columns if column not in schema.names]
    if missing or not columns:
        msg = (
            f"columns is {list(columns)!r}, and {name} has {', '.join(schema.names)}; "
            f"choose from these"
        )
        raise InvalidArgumentError(msg)
    return arrow.schema([field for field in schema if field.name in columns])


def _in_words(schema: Any) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _ParquetRows(Node):
    """Rows in their order.

    Attributes:
      element: What they look like.
      columns: The names of the columns that are read.
      groups: The row groups: a file, the number of the group in it, and its length.
    """

    inputs = ()
    element: ElementSpec
    columns: Sequence[str]
    groups: Sequence[tuple[str, int, int]]

    def label(self) -> str:
        return f"ParquetDataset({', '.join(self.columns)})"

    def spec(self) -> ElementSpec:
        return self.element

    def cardinality(self) -> int:
        return sum(rows for _, _, rows in self.groups)

    @property
    def pure(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        del pass_
        return _ParquetCursor(self)


class _ParquetCursor(Cursor):
    """Its position is the number of the next row: groups before it are not read."""

    def __init__(self, node: _ParquetRows) -> None:
        self._node = node
        self._number = 0
        self._blocks: Iterator[Block] | None = None
        self._block: Block | None = None
        self._given = 0  # of the block

    def take(self, count: int) -> Block | None:
        if self._block is None:
            try:
                if self._blocks is None:
                    self._blocks = _blocks(self._node, self._number)
                self._block = next(self._blocks, None)
            except BaseException as error:
                self._blocks = None  # begun anew where it failed
                noted(error, self._node.label(), self._number)
                raise
            self._given = 0
            if self._block is None:
                return None
        part = self._block.part(self._given, self._given + count)
        self._given += part.size
        self._number += part.size
        if self._given == self._block.size:
            self._block = None
        return part

    def state(self) -> State:
        return self._number

    def restore(self, state: State) -> None:
        self._number = state

    def close(self) -> None:
        self._blocks = None


def _blocks(node: _ParquetRows, start: int) -> Iterator[Block]:
    """The rows from a number on."""
    ends = list(itertools.accumulate(rows for _, _, rows in node.groups))
    place = bisect.bisect_right(ends, start)
    first = ends[place - 1] if place else 0
    _, parquet = _imported()
    for name, same in itertools.groupby(node.groups[place:], lambda group: group[0]):
        with parquet.ParquetFile(name) as file:
            numbers = [group for _, group, _ in same]
            for batch in file.iter_batches(_BATCH, numbers, node.columns):
                if first + batch.num_rows > start:
                    skipped = max(0, start - first)
                    number_of = functools.partial(operator.add, first + skipped)
                    yield block_of(batch.slice(skipped), number_of)
                first += batch.num_rows
