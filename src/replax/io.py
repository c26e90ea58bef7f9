"""Record files, and the examples in them."""

from replax._src.dataset.examples.features import (
    FixedLenFeature,
    SparseValues,
    VarLenFeature,
)
from replax._src.dataset.examples.parse import parse_example, parse_single_example
from replax._src.dataset.examples.serialize import serialize_example
from replax._src.dataset.files.tf_record_writer import TFRecordWriter

__all__ = [
    "FixedLenFeature",
    "SparseValues",
    "TFRecordWriter",
    "VarLenFeature",
    "parse_example",
    "parse_single_example",
    "serialize_example",
]
