"""Datasets: what to train on, described step by step."""

from replax._src.dataset.dataset import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
)
from replax._src.dataset.iterator import DatasetIterator
from replax._src.dataset.options import Options, ThreadingOptions
from replax._src.dataset.readers import (
    FixedLengthRecordDataset,
    TextLineDataset,
    TFRecordDataset,
)
from replax._src.dataset.taking import (
    ArrayRecordDataset,
    ParquetDataset,
    as_dataset,
)
from replax._src.dataset.transforming import AUTOTUNE
from replax._src.keras import expected as _expected  # noqa: F401  # pyright: ignore[reportUnusedImport]
from replax.data import experimental

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "ArrayRecordDataset",
    "Dataset",
    "DatasetIterator",
    "FixedLengthRecordDataset",
    "Options",
    "ParquetDataset",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "as_dataset",
    "experimental",
]
