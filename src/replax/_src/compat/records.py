"""``tf.io``: record files and examples."""

from __future__ import annotations

from typing import Any

import jax

from replax._src.compat.conversion import convert_to_tensor
from replax._src.dataset.examples import parse
from replax._src.dataset.files import tf_record_writer
from replax._src.dataset.files.compression import known_compression
from replax._src.dataset.files.format import FilePath

__all__ = [
    "TFRecordOptions",
    "TFRecordWriter",
    "parse_example",
    "parse_single_example",
]


class TFRecordOptions:
    """How a file is written.

    Args:
      compression_type: ``"GZIP"``, ``"ZLIB"``, or nothing.
      flush_mode: Taken for TensorFlow's sake.
      input_buffer_size: Taken for TensorFlow's sake.
      output_buffer_size: Taken for TensorFlow's sake.
      window_bits: Taken for TensorFlow's sake.
      compression_level: Taken for TensorFlow's sake.
      compression_method: Taken for TensorFlow's sake.
      mem_level: Taken for TensorFlow's sake.
      compression_strategy: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.io.TFRecordOptions("GZIP").compression_type
    'GZIP'
    """

    def __init__(
        self,
        compression_type: str | TFRecordOptions | None = None,
        flush_mode: Any = None,
        input_buffer_size: Any = None,
        output_buffer_size: Any = None,
        window_bits: Any = None,
        compression_level: Any = None,
        compression_method: Any = None,
        mem_level: Any = None,
        compression_strategy: Any = None,
    ) -> None:
        del flush_mode, input_buffer_size, output_buffer_size, window_bits
        del compression_level, compression_method, mem_level, compression_strategy
        self.compression_type = _compression(compression_type)


class TFRecordWriter(tf_record_writer.TFRecordWriter):
    """Writes a TFRecord file.

    Args:
      path: The file; one that is there is written anew.
      options: TFRecordOptions, or their compression type.

    >>> import pathlib, tempfile
    >>> import replax.compat.v2 as tf
    >>> path = pathlib.Path(tempfile.mkdtemp(), "data.tfrecord")
    >>> with tf.io.TFRecordWriter(str(path), "GZIP") as writer:
    ...     writer.write(b"first")
    """

    def __init__(
        self, path: FilePath, options: str | TFRecordOptions | None = None
    ) -> None:
        super().__init__(path, _compression(options))

    def write(self, record: Any) -> None:
        """Writes one record: bytes, or a string, which is encoded."""
        if isinstance(record, str):
            record = record.encode()
        elif isinstance(record, bytearray):
            record = bytes(record)
        super().write(record)


def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a batch of examples.

    Args:
      serialized: The examples, each as bytes.
      features: What to parse: for each name a FixedLenFeature or a VarLenFeature.
      example_names: Taken for TensorFlow's sake; errors say the number of the example.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.io.parse_example([b""], {"x": tf.io.FixedLenFeature([], tf.int64, 7)})
    {'x': Array([7], dtype=int64)}
    """
    del example_names, name
    return jax.tree.map(convert_to_tensor, parse.parse_example(serialized, features))


def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one example.

    Args:
      serialized: The example as bytes.
      features: What to parse: for each name a FixedLenFeature or a VarLenFeature.
      example_names: Taken for TensorFlow's sake.
      name: Taken for TensorFlow's sake.

    >>> import replax.compat.v2 as tf
    >>> tf.io.parse_single_example(b"", {"x": tf.io.FixedLenFeature([], tf.int64, 7)})
    {'x': Array(7, dtype=int64)}
    """
    del example_names, name
    parsed = parse.parse_single_example(serialized, features)
    return jax.tree.map(convert_to_tensor, parsed)


def _compression(options: str | TFRecordOptions | None) -> str:
    if isinstance(options, TFRecordOptions):
        return options.compression_type
    return known_compression(options)
