"""Files of records of one length."""

from __future__ import annotations

import gzip

import hypothesis
import hypothesis.strategies as st
import pytest

from record_bytes import COMPRESS, read_all, read_on, written
from replax._src.core.errors import DataLossError, InvalidArgumentError
from replax._src.dataset.files.fixed_length import FixedLengthRecords


@hypothesis.given(
    number=st.integers(0, 9),
    size=st.integers(1, 5),
    header=st.integers(0, 4),
    footer=st.integers(0, 4),
    compression=st.sampled_from(list(COMPRESS)),
    count=st.integers(1, 4),
)
def test_records_and_positions(
    tmp_path_factory, number, size, header, footer, compression, count
):
    wanted = [bytes([65 + i]) * size for i in range(number)]
    data = b"H" * header + b"".join(wanted) + b"F" * footer
    path = written(tmp_path_factory.mktemp("fixed"), COMPRESS[compression](data))
    layout = FixedLengthRecords(size, header, footer, compression)
    reader = layout.open(path)
    places = [(0, reader.position())]
    found: list[bytes] = []
    while records := reader.read(count):
        assert len(records) <= count
        found += records
        places.append((len(found), reader.position()))
    assert found == wanted
    for done, position in places:
        again = layout.open(path)
        again.seek(position)
        assert again.position() == position
        assert read_all(again, count) == wanted[done:]


def test_a_long_file(tmp_path):
    data = bytes(range(250)) * 4000
    path = written(tmp_path, b"H" + data + b"FF")
    found = read_all(FixedLengthRecords(125, 1, 2).open(path), 100)
    assert b"".join(found) == data
    assert len(found) == 8000


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"HHaabbcF",
            r"8 bytes, which less .* are 5, .* no multiple of record_bytes=2",
        ),
        (b"H", r"it has 1 bytes, which are fewer than header_bytes=2, footer_bytes=1"),
    ],
)
def test_a_file_of_another_layout_is_refused_before_its_records(tmp_path, data, said):
    path = written(tmp_path, data)
    reader = FixedLengthRecords(2, 2, 1).open(path)
    with pytest.raises(InvalidArgumentError, match=said) as caught:
        reader.read(1)
    assert str(path) in str(caught.value)
    assert "compare record_bytes" in str(caught.value)
    assert reader.read(1) == []


def test_a_compressed_file_of_another_layout_is_damaged_at_its_end(tmp_path):
    path = written(tmp_path, gzip.compress(b"HHaabbcF"))
    *found, error = read_on(FixedLengthRecords(2, 2, 1, "GZIP").open(path))
    assert found == [b"aa", b"bb"]
    assert isinstance(error, DataLossError)
    assert "no multiple of record_bytes=2" in str(error)
    assert (error.record, error.offset) == (2, 6)


def test_cut_gzip_data_are_an_error(tmp_path):
    path = written(tmp_path, gzip.compress(b"aabbcc")[:-3])
    found = read_on(FixedLengthRecords(2, compression="GZIP").open(path))
    assert found[:3] == [b"aa", b"bb", b"cc"]
    assert "data end too early" in str(found[3])
    assert len(found) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0,), r"record_bytes is 0; a record has at least one byte"),
        ((1, -1), r"header_bytes is -1; .* write 0 or more"),
        ((1, 0, -2), r"footer_bytes is -2; .* write 0 or more"),
    ],
)
def test_lengths_are_checked(arguments, said):
    with pytest.raises(InvalidArgumentError, match=said):
        FixedLengthRecords(*arguments)
