"""Writing TFRecord files."""

from __future__ import annotations

import gzip
import zlib

import numpy as np
import pytest

from record_bytes import COMPRESS, read_all, records
from replax._src.core.errors import NotFoundError
from replax._src.dataset.files.tf_record import TFRecords
from replax._src.dataset.files.tf_record_writer import TFRecordWriter

DATAS = [b"one", b"", b"three" * 1000, bytes(range(256))]
INFLATE = {None: bytes, "GZIP": gzip.decompress, "ZLIB": zlib.decompress}


@pytest.mark.parametrize("compression", COMPRESS)
def test_what_is_written_is_read(tmp_path, compression):
    path = tmp_path / "data"
    with TFRecordWriter(path, compression) as writer:
        for data in DATAS:
            writer.write(data)
    assert INFLATE[compression](path.read_bytes()) == records(*DATAS)
    assert read_all(TFRecords(compression).open(path)) == DATAS


def test_the_bytes_are_those_of_tensorflow(tmp_path):
    with TFRecordWriter(str(tmp_path / "data"), "") as writer:
        writer.write(b"one")
    wanted = bytes.fromhex("0300000000000000b099490e6f6e6501405508")
    assert (tmp_path / "data").read_bytes() == wanted


@pytest.mark.parametrize("compression", COMPRESS)
def test_what_was_flushed_can_be_read_before_the_file_is_closed(tmp_path, compression):
    path = tmp_path / "data"
    writer = TFRecordWriter(path, compression)
    writer.write(b"first")
    writer.flush()
    assert TFRecords(compression).open(path).read(2) == [b"first"]
    writer.write(b"second")
    writer.close()
    assert read_all(TFRecords(compression).open(path)) == [b"first", b"second"]


def test_a_writer_that_is_dropped_closes_its_file(tmp_path):
    writer = TFRecordWriter(tmp_path / "data", "GZIP")
    writer.write(b"first")
    del writer
    assert read_all(TFRecords("GZIP").open(tmp_path / "data")) == [b"first"]


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("text", r"type str; write record.encode\(\)"),
        (bytearray(b"x"), r"type bytearray; write bytes\(record\)"),
        (np.zeros(2), r"type ndarray; write array.tobytes\(\), or serialize_example"),
        (7, r"type int; turn it into bytes, for example with serialize_example"),
    ],
)
def test_only_bytes_are_records(tmp_path, value, remedy):
    with (
        TFRecordWriter(tmp_path / "data") as writer,
        pytest.raises(TypeError, match=f"a record is bytes, and this is of {remedy}"),
    ):
        writer.write(value)
    assert (tmp_path / "data").read_bytes() == b""


@pytest.mark.parametrize("method", ["write", "flush"])
def test_a_closed_file_takes_no_more(tmp_path, method):
    writer = TFRecordWriter(tmp_path / "data")
    writer.close()
    writer.close()
    arguments = [b"x"] if method == "write" else []
    with pytest.raises(ValueError, match=r"is closed.*write them before"):
        getattr(writer, method)(*arguments)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"missing.*its folder is not there; make"):
        TFRecordWriter(tmp_path / "missing" / "data")


def test_an_unknown_compression_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"'SNAPPY' is not known here"):
        TFRecordWriter(tmp_path / "data", "SNAPPY")
    assert not (tmp_path / "data").exists()
