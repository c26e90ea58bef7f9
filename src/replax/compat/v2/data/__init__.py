"""Datasets."""

from replax._src.compat.datasets import (
    Dataset,
    FixedLengthRecordDataset,
    TextLineDataset,
    TFRecordDataset,
)
from replax._src.dataset.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from replax._src.dataset.iterator import DatasetIterator as Iterator
from replax._src.dataset.options import Options, ThreadingOptions
from replax._src.dataset.transforming import AUTOTUNE
from replax.compat.v2.data import experimental

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "FixedLengthRecordDataset",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
