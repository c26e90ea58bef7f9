"""TFRecord files: reading, going on at a position, compression."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from pathlib import Path

import pytest

from record_bytes import COMPRESS, read_all, records, written
from replax._src.core.errors import DataLossError, NotFoundError
from replax._src.dataset.files.tf_record import TFRecords

# What TensorFlow 2.21 writes for b"one", b"two", b"three".
BY_TENSORFLOW = bytes.fromhex(
    "0300000000000000b099490e6f6e6501405508"
    "0300000000000000b099490e74776f8990c909"
    "0500000000000000eab2043e74687265656023fb45"
)
GZIP_BY_TENSORFLOW = bytes.fromhex(
    "1f8b080000000000000363668080 0d333df9f2f352191d4239 009554336313000000"
)
ZLIB_BY_TENSORFLOW = bytes.fromhex("789c63668080 0d333df9f2f352191d423900 19e30384")

DATAS = [random.Random(i).randbytes(i % 7 * 11) for i in range(40)]


def opened(path: Path, compression: str | None = None, buffer_size: int | None = None):
    return TFRecords(compression, buffer_size).open(path)


@pytest.mark.parametrize(
    ("data", "compression", "wanted"),
    [
        (BY_TENSORFLOW, None, [b"one", b"two", b"three"]),
        (GZIP_BY_TENSORFLOW, "GZIP", [b"one"]),
        (ZLIB_BY_TENSORFLOW, "ZLIB", [b"one"]),
        (b"", None, []),
        (b"", "GZIP", []),
        (b"", "ZLIB", []),
        (BY_TENSORFLOW, "", [b"one", b"two", b"three"]),
    ],
)
def test_files_of_tensorflow_are_read(tmp_path, data, compression, wanted):
    assert read_all(opened(written(tmp_path, data), compression)) == wanted


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("count", [1, 3, 1000])
@pytest.mark.parametrize("buffer_size", [1, 13, 100, None])
def test_all_records_come_in_order(tmp_path, compression, count, buffer_size):
    path = written(tmp_path, COMPRESS[compression](records(*DATAS)))
    with opened(path, compression, buffer_size) as reader:
        assert read_all(reader, count) == DATAS


@pytest.mark.parametrize("compression", COMPRESS)
def test_reading_goes_on_at_every_position(tmp_path, compression):
    path = written(tmp_path, COMPRESS[compression](records(*DATAS)))
    reader = opened(path, compression, 50)
    positions = [reader.position()]
    for data in DATAS:
        assert reader.read(1) == [data]
        positions.append(reader.position())
    assert json.loads(json.dumps(positions)) == positions
    again = opened(path, compression)
    order = list(range(len(positions)))
    random.Random(0).shuffle(order)
    for i in order:
        for other in (again, opened(path, compression, 7)):
            other.seek(positions[i])
            assert other.position() == positions[i]
            assert read_all(other, 5) == DATAS[i:]


def test_a_position_at_the_end_is_the_end(tmp_path):
    path = written(tmp_path, records(*DATAS))
    reader = opened(path)
    read_all(reader)
    other = opened(path)
    other.seek(reader.position())
    assert other.read(1) == []
    other.seek([0, 0, 0])
    assert read_all(other) == DATAS


def test_the_number_of_a_damaged_record_is_right_after_a_seek(tmp_path):
    data = bytearray(records(b"one", b"two", b"three"))
    data[-1] ^= 1
    path = written(tmp_path, bytes(data))
    reader = opened(path)
    reader.seek([19, 1, 0])
    assert reader.read(9) == [b"two"]
    with pytest.raises(DataLossError) as caught:
        reader.read(1)
    assert (caught.value.record, caught.value.offset) == (2, 38)


def test_records_longer_than_what_is_read_at_once(tmp_path):
    datas = [bytes(3_000_000), b"x", random.Random(1).randbytes(40_000_000)]
    path = written(tmp_path, records(*datas))
    assert read_all(opened(path)) == datas


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_members_one_after_the_other(tmp_path, compression):
    compress = COMPRESS[compression]
    data = compress(records(b"a", b"b")) + compress(b"") + compress(records(b"c"))
    path = written(tmp_path, data)
    assert read_all(opened(path, compression)) == [b"a", b"b", b"c"]


def test_a_record_may_span_members(tmp_path):
    data = records(b"abc", b"def")
    path = written(tmp_path, gzip.compress(data[:20]) + gzip.compress(data[20:]))
    assert read_all(opened(path, "GZIP")) == [b"abc", b"def"]


@pytest.mark.parametrize("zeros", [1, 600, 20_000_000])
def test_zeros_behind_gzip_data_are_padding(tmp_path, zeros):
    one = gzip.compress(records(b"a"))
    path = written(tmp_path, one + bytes(zeros) + one + bytes(zeros))
    assert read_all(opened(path, "GZIP")) == [b"a", b"a"]


def test_data_that_deflate_very_well(tmp_path):
    datas = [bytes(5_000_000)] * 3
    path = written(tmp_path, zlib.compress(records(*datas), 9))
    assert read_all(opened(path, "ZLIB"), 1) == datas


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"no file '.*missing'.*compare the path"):
        opened(tmp_path / "missing")


def test_a_folder_is_an_error_of_the_system_with_its_path(tmp_path):
    with pytest.raises(OSError, match=str(tmp_path)) as caught:
        opened(tmp_path).read(1)
    assert not isinstance(caught.value, DataLossError)


def test_paths_may_be_strings_and_bytes(tmp_path):
    path = written(tmp_path, records(b"a"))
    assert read_all(TFRecords().open(str(path))) == [b"a"]
    assert read_all(TFRecords().open(str(path).encode())) == [b"a"]


def test_an_unknown_compression_is_refused():
    with pytest.raises(ValueError, match=r"'gzip' is not known here; write 'GZIP'"):
        TFRecords("gzip")


def test_a_negative_buffer_is_refused():
    with pytest.raises(ValueError, match=r"buffer_size is -1; it is a number of bytes"):
        TFRecords(None, -1)


def test_a_file_that_got_shorter_is_damaged(tmp_path):
    path = written(tmp_path, records(*DATAS))
    reader = opened(path)
    read_all(reader, 5)
    position = [reader.position()[0] - 50, 38, 0]
    for compression, data in ((None, records(b"a")), ("GZIP", gzip.compress(b"a"))):
        other = opened(written(tmp_path, data), compression)
        other.seek(position)
        with pytest.raises(DataLossError, match=r"has \d+ bytes, and reading was to"):
            other.read(1)
        assert other.read(1) == []


def test_closing_twice_is_closing_once(tmp_path):
    reader = opened(written(tmp_path, b""))
    reader.close()
    reader.close()
