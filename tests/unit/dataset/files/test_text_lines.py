"""Text files."""

from __future__ import annotations

import gzip

import hypothesis
import hypothesis.strategies as st
import pytest

from record_bytes import COMPRESS, read_all, read_on, written
from replax._src.core.errors import DataLossError, NotFoundError
from replax._src.dataset.files.text_lines import TextLines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"", []),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"\n", [b""]),
        (b"a\n\nb", [b"a", b"", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\r\n\r\n", [b"", b""]),
        # These are as TensorFlow 2.21 reads them.
        (b"a\n\r", [b"a"]),
        (b"a\rb\r\r\nc\r", [b"ab", b"c"]),
    ],
)
@pytest.mark.parametrize("compression", COMPRESS)
def test_lines(tmp_path, text, lines, compression):
    path = written(tmp_path, COMPRESS[compression](text))
    assert read_all(TextLines(compression).open(path)) == lines


@hypothesis.given(
    st.binary(max_size=60).map(lambda b: bytes(b"ab\r\n\n"[x % 5] for x in b)),
    st.sampled_from(list(COMPRESS)),
    st.integers(1, 4),
)
def test_reading_goes_on_at_every_line(tmp_path_factory, text, compression, count):
    path = written(tmp_path_factory.mktemp("lines"), COMPRESS[compression](text))
    wanted = [line.replace(b"\r", b"") for line in text.split(b"\n")]
    if not wanted[-1]:
        wanted.pop()
    reader = TextLines(compression).open(path)
    places = [(0, reader.position())]
    found: list[bytes] = []
    while lines := reader.read(count):
        found += lines
        places.append((len(found), reader.position()))
    assert found == wanted
    for number, position in places:
        again = TextLines(compression).open(path)
        again.seek(position)
        assert again.position() == position
        assert read_all(again, count) == wanted[number:]


def test_lines_longer_than_what_is_read_at_once(tmp_path):
    lines = [b"a" * 1_000_000, b"", b"b" * 600_000, b"c"] * 3
    path = written(tmp_path, b"\n".join(lines))
    assert read_all(TextLines().open(path), 2) == lines


def test_cut_gzip_data_are_an_error_behind_the_whole_lines(tmp_path):
    path = written(tmp_path, gzip.compress(b"one\ntwo\nthree")[:-9])
    *lines, error = read_on(TextLines("GZIP").open(path), 1)
    assert lines == [b"one", b"two"]
    assert isinstance(error, DataLossError)
    assert (error.path, error.record, error.offset) == (str(path), 2, 8)
    assert "line 2" in str(error)
    assert "data end too early" in str(error)
    assert ".ignore_errors()" in str(error)


def test_an_error_is_over_when_it_was_raised(tmp_path):
    path = written(tmp_path, gzip.compress(b"one\ntwo\nthree")[:-9])
    reader = TextLines("GZIP").open(path)
    read_on(reader)
    again = TextLines("GZIP").open(path)
    again.seek(reader.position())
    assert again.read(1) == []


def test_a_file_that_got_shorter_is_damaged(tmp_path):
    path = written(tmp_path, b"a\n")
    reader = TextLines().open(path)
    reader.seek([100, 7, 0])
    with pytest.raises(DataLossError, match=r"line 7.*has 2 bytes"):
        reader.read(1)
    assert reader.read(1) == []


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"missing"):
        TextLines().open(tmp_path / "missing")
