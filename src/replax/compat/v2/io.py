"""Record files, and the examples in them."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.reading import decode_csv, decode_raw, read_file, write_file
from replax._src.compat.records import (
    TFRecordOptions,
    TFRecordWriter,
    parse_example,
    parse_single_example,
)
from replax._src.core.loading import loaded_later as _loaded_later
from replax._src.dataset.examples.features import FixedLenFeature, VarLenFeature

__all__ = [
    "FixedLenFeature",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_csv",
    "decode_raw",
    "parse_example",
    "parse_single_example",
    "read_file",
    "write_file",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
