"""Records of ArrayRecord files."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from replax._src.core.specs import TensorSpec
from replax._src.dataset.foreign.numbered import ByNumber
from replax._src.dataset.node import Node, Pass
from replax._src.dataset.structure import LEAF, ElementSpec

__all__ = ["array_records"]


def array_records(names: Sequence[str]) -> Node:
    """The records of the files, which are opened when they are read."""
    try:
        # Optional, and imported by nobody who does not read such files.
        from array_record.python import array_record_data_source  # noqa: PLC0415
    except ImportError as error:
        msg = (
            "ArrayRecordDataset reads with the package array_record, which is not "
            "installed; run: pip install array_record"
        )
        raise ImportError(msg) from error
    source: Any = array_record_data_source.ArrayRecordDataSource(list(names))
    return _ArrayRecords(
        source=source,
        size=len(source),
        signature=ElementSpec(LEAF, (TensorSpec((), object),)),
    )


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class _ArrayRecords(ByNumber):
    """Records of all files, numbered from the first of the first file on."""

    def label(self) -> str:
        return f"ArrayRecordDataset({self.size})"

    def read(self, numbers: Sequence[int], pass_: Pass) -> Sequence[Any]:
        del pass_
        return self.read_together(self.source.__getitems__, numbers)
