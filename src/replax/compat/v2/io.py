"""Record files, and the examples in them."""

from replax._src.compat.records import (
    TFRecordOptions,
    TFRecordWriter,
    parse_example,
    parse_single_example,
)
from replax._src.dataset.examples.features import FixedLenFeature, VarLenFeature

__all__ = [
    "FixedLenFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "parse_example",
    "parse_single_example",
]
