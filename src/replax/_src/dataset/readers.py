"""Datasets of the records of files."""

from __future__ import annotations

from typing import Any

from replax._src.dataset.dataset import Dataset
from replax._src.dataset.files.fixed_length import FixedLengthRecords
from replax._src.dataset.files.format import FileFormat
from replax._src.dataset.files.text_lines import TextLines
from replax._src.dataset.files.tf_record import TFRecords
from replax._src.dataset.node import Node
from replax._src.dataset.planned import Planned, plan_of
from replax._src.dataset.shuffling import Chance
from replax._src.dataset.sources.files import Records, names_of
from replax._src.dataset.sources.slices import Slices
from replax._src.dataset.transformations.flat_map import Interleave
from replax._src.dataset.transformations.prefetch import Prefetch
from replax._src.dataset.transforming import READ_AHEAD, workers_of

__all__ = ["FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset"]


class TextLineDataset(Dataset):
    r"""The lines of text files, as ``bytes`` without their ends.

    Args:
      filenames: A name, several, or a dataset of names.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      buffer_size: Accepted for TensorFlow's programs.
      num_parallel_reads: How many files are read at the same time, a line of each by
        turns; one file after the other if not given.
      name: Accepted for TensorFlow's programs.

    >>> import pathlib, tempfile, replax
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_text("one\ntwo\n")
    >>> list(replax.data.TextLineDataset(str(file)))
    [b'one', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, name
        super().__init__(
            _records(filenames, TextLines(compression_type), num_parallel_reads)
        )


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as ``bytes``.

    The checksum of each record is checked.

    Args:
      filenames: A name, several, or a dataset of names.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      buffer_size: How many bytes are read at once.
      num_parallel_reads: How many files are read at the same time, a record of each by
        turns; one file after the other if not given.
      name: Accepted for TensorFlow's programs.

    >>> import pathlib, tempfile, replax
    >>> file = str(pathlib.Path(tempfile.mkdtemp()) / "a.tfrecord")
    >>> with replax.io.TFRecordWriter(file) as writer:
    ...     writer.write(b"one")
    >>> list(replax.data.TFRecordDataset(file))
    [b'one']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        del name
        records = TFRecords(compression_type, buffer_size)
        super().__init__(_records(filenames, records, num_parallel_reads))


class FixedLengthRecordDataset(Dataset):
    """The records of files whose records all have one length, as ``bytes``.

    Args:
      filenames: A name, several, or a dataset of names.
      record_bytes: How long a record is.
      header_bytes: How many bytes there are before the first record of a file.
      footer_bytes: How many bytes there are behind the last record of a file.
      buffer_size: Accepted for TensorFlow's programs.
      compression_type: ``"GZIP"``, ``"ZLIB"``, or None.
      num_parallel_reads: How many files are read at the same time, a record of each by
        turns; one file after the other if not given.
      name: Accepted for TensorFlow's programs.

    >>> import pathlib, tempfile, replax
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.bin"
    >>> _ = file.write_bytes(b"aabb")
    >>> list(replax.data.FixedLengthRecordDataset(str(file), 2))
    [b'aa', b'bb']
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        buffer_size: int | None = None,
        compression_type: str | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, name
        records = FixedLengthRecords(
            int(record_bytes),
            int(header_bytes or 0),
            int(footer_bytes or 0),
            compression_type,
        )
        super().__init__(_records(filenames, records, num_parallel_reads))


def _records(filenames: Any, file_format: FileFormat, parallel: int | None) -> Node:
    names = (
        plan_of(filenames, "filenames")
        if isinstance(filenames, Planned)
        else Slices.of(names_of(filenames))
    )
    workers = workers_of(parallel, "num_parallel_reads")
    if workers is None:
        return Records(names=names, format=file_format)

    def read(name: Any) -> Node:
        one = Records(names=Slices.of(names_of([name])), format=file_format)
        return Prefetch(child=one, buffer_size=READ_AHEAD)

    return Interleave(
        child=names,
        make=read,
        chance=Chance(None),
        cycle_length=workers,
        name="interleave",
        parallel=workers,
    )
