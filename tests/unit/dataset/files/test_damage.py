"""Damaged TFRecord files: nothing is lost in silence, altered, or read twice."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import pickle
import random
import tracemalloc
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import pytest

from record_bytes import COMPRESS, header, read_on, record, records, written
from replax._src.core.errors import DataLossError
from replax._src.dataset.files.tf_record import TFRecords

ONE, TWO, THREE = record(b"one"), record(b"two"), record(b"three")
SAYS_TOO_MUCH = header(2**60)


@dataclasses.dataclass
class Case:
    data: bytes
    found: list[bytes | tuple[int, int, str]]
    compression: str | None = None


CASES = {
    "length": Case(
        ONE[:8] + b"?" + ONE[9:] + TWO,
        [(0, 0, "checksum of its length is wrong"), b"two"],
    ),
    "data": Case(
        ONE + TWO[:-1] + b"?" + THREE,
        [b"one", (1, 19, "checksum of its 3 bytes of data is wrong"), b"three"],
    ),
    "data of the last": Case(
        ONE + TWO[:13] + b"?" + TWO[14:],
        [b"one", (1, 19, "checksum of its 3 bytes of data is wrong")],
    ),
    "cut header": Case(
        ONE + TWO[:5], [b"one", (1, 19, "ends after 5 bytes of the 12 that a record")]
    ),
    "cut body": Case(
        ONE + THREE[:-1], [b"one", (1, 19, "ends before the 5 bytes that the record")]
    ),
    "lost bytes": Case(
        ONE[:12] + ONE[14:] + TWO + THREE,
        [(0, 0, "checksum of its 3 bytes of data is wrong"), b"two", b"three"],
    ),
    "more bytes": Case(
        ONE[:13] + b"??" + ONE[13:] + TWO,
        [(0, 0, "checksum of its 3 bytes of data is wrong"), b"two"],
    ),
    "lost end, and a record behind it": Case(
        THREE[:14] + TWO,
        [(0, 0, "checksum of its 5 bytes of data is wrong"), b"two"],
    ),
    "garbage between": Case(
        ONE + b"garbage" * 5 + TWO,
        [b"one", (1, 19, "checksum of its length is wrong"), b"two"],
    ),
    "zeros between": Case(
        ONE + bytes(100_000) + TWO,
        [b"one", (1, 19, "checksum of its length is wrong"), b"two"],
    ),
    "a length of 2**60": Case(
        ONE + SAYS_TOO_MUCH + TWO,
        [b"one", (1, 19, f"file ends before the {2**60} bytes"), b"two"],
    ),
    "a length of 2**60, compressed": Case(
        gzip.compress(ONE + SAYS_TOO_MUCH + TWO),
        [b"one", (1, 19, f"file ends before the {2**60} bytes"), b"two"],
        "GZIP",
    ),
    "not compressed": Case(
        ONE, [(0, 0, r"not valid GZIP data (Error -3")], compression="GZIP"
    ),
    "compressed": Case(
        gzip.compress(ONE), [(0, 0, 'begins as GZIP files do: say compression="GZIP"')]
    ),
    "cut compression": Case(
        gzip.compress(ONE + TWO)[:-4],
        [b"one", b"two", (2, 38, "the GZIP data end too early: it was cut")],
        "GZIP",
    ),
    "wrong checksum of compression": Case(
        gzip.compress(ONE)[:-8] + bytes(8),
        [b"one", (1, 19, "incorrect data check")],
        "GZIP",
    ),
    "garbage behind compression": Case(
        gzip.compress(ONE) + b"garbage", [b"one", (1, 19, "header check")], "GZIP"
    ),
}


@pytest.mark.parametrize("buffer_size", [1, 20, None])
@pytest.mark.parametrize("name", CASES)
def test_an_error_names_the_damage_and_reading_goes_on(tmp_path, name, buffer_size):
    case = CASES[name]
    path = written(tmp_path, case.data)
    found = read_on(TFRecords(case.compression, buffer_size).open(path))
    assert len(found) == len(case.found)
    for got, wanted in zip(found, case.found, strict=True):
        if isinstance(wanted, bytes):
            assert got == wanted
            continue
        assert isinstance(got, DataLossError)
        assert (got.path, got.record, got.offset) == (str(path), *wanted[:2])
        assert wanted[2] in str(got)
        assert f"{path} is damaged in record {wanted[0]}" in str(got)
        assert f"begins at byte {wanted[1]}" in str(got)
        assert "write or copy the file again" in str(got)
        assert ".ignore_errors()" in str(got)


def test_the_error_can_be_pickled(tmp_path):
    (error,) = read_on(TFRecords().open(written(tmp_path, b"x" * 100)))
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(error, DataLossError)
    assert isinstance(copy, DataLossError)
    assert (str(copy), copy.path, copy.record, copy.offset) == (
        str(error),
        error.path,
        error.record,
        error.offset,
    )


@pytest.mark.parametrize("compression", COMPRESS)
def test_no_memory_is_taken_for_what_a_length_says(tmp_path, compression):
    data = records(bytes(1000)) + header(2**33) + bytes(200_000) + records(b"end")
    path = written(tmp_path, COMPRESS[compression](data))
    tracemalloc.start()
    try:
        found = read_on(TFRecords(compression).open(path))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found[0] == bytes(1000)
    assert found[-1] == b"end"
    assert most < 30_000_000


def test_memory_is_bounded_in_long_files(tmp_path):
    path = written(tmp_path, gzip.compress(records(bytes(1000)) * 60_000, 1))
    reader = TFRecords("GZIP").open(path)
    tracemalloc.start()
    try:
        number = 0
        while batch := reader.read(100):
            number += len(batch)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert number == 60_000
    assert most < 40_000_000


@dataclasses.dataclass(frozen=True)
class Damage:
    """What happens to the bytes from ``start`` to ``stop``."""

    start: int
    stop: int
    replacement: bytes

    def apply(self, data: bytes) -> bytes:
        return data[: self.start] + self.replacement + data[self.stop :]


def flipped(data: bytes, at: int, bit: int) -> Damage:
    return Damage(at, at + 1, bytes([data[at] ^ 1 << bit]))


def events_of(path: Path, compression: str | None, size: int | None, count: int):
    """What reading gives, and checks that it gives the same from each position."""
    layout = TFRecords(compression, size)
    reader = layout.open(path)
    events: list[bytes | DataLossError] = []
    positions = [reader.position()]
    marks = [0]
    for _ in range(10_000):
        try:
            batch = reader.read(count)
        except DataLossError as error:
            events.append(error)
        else:
            if not batch:
                break
            events += batch
        positions.append(reader.position())
        marks.append(len(events))
    else:
        pytest.fail("it does not end")
    for position, mark in zip(
        positions[:: 1 + len(positions) // 5],
        marks[:: 1 + len(marks) // 5],
        strict=True,
    ):
        again = layout.open(path)
        again.seek(position)
        assert list(map(shown, read_on(again, count))) == list(
            map(shown, events[mark:])
        )
    return events


def shown(event: bytes | DataLossError):
    if isinstance(event, bytes):
        return event
    return event.record, event.offset, str(event)


def check(datas: list[bytes], events: list[bytes | DataLossError]) -> set[int]:
    """Nothing altered, twice or lost in silence; which records were delivered."""
    number = {data: i for i, data in enumerate(datas)}
    last, warned = -1, False
    delivered: set[int] = set()
    for event in [*events, None]:
        if isinstance(event, DataLossError):
            warned = True
            continue
        assert event is None or event in number, "a record was altered"
        now = len(datas) if event is None else number[event]
        assert now > last, "a record came twice, or in another order"
        assert now == last + 1 or warned, f"{now - last - 1} records lost in silence"
        last, warned = now, False
        delivered.add(now)
    return delivered - {len(datas)}


def spans(datas: list[bytes]) -> list[tuple[int, int]]:
    ends = [0]
    for data in datas:
        ends.append(ends[-1] + len(data) + 16)
    return list(itertools.pairwise(ends))


def numbered(bodies: list[bytes]) -> list[bytes]:
    return [i.to_bytes(2, "little") + body for i, body in enumerate(bodies)]


bodies = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.integers(0, 300).map(bytes),
        st.integers(0, 600).map(lambda n: random.Random(n).randbytes(n)),
    ),
    min_size=1,
    max_size=12,
).map(numbered)


@st.composite
def damaged_files(draw: st.DrawFn):
    datas = draw(bodies)
    data = records(*datas)
    start = draw(st.integers(0, len(data) - 1))
    kind = draw(st.sampled_from(["flip", "cut", "insert", "overwrite", "truncate"]))
    if kind == "flip":
        return datas, flipped(data, start, draw(st.integers(0, 7)))
    if kind == "truncate":
        return datas, Damage(start, len(data), b"")
    if kind == "insert":
        return datas, Damage(start, start, draw(st.binary(min_size=1, max_size=50)))
    stop = draw(st.integers(start + 1, min(len(data), start + 60)))
    size = stop - start if kind == "overwrite" else 0
    return datas, Damage(start, stop, draw(st.binary(min_size=size, max_size=size)))


def check_plain(folder: Path, datas, damage: Damage, size: int | None, count: int):
    data = records(*datas)
    after = damage.apply(data)
    events = events_of(written(folder, after), None, size, count)
    for i in range(len(datas)):
        for j in range(i, len(datas) + 1):
            if after == records(*datas[:i], *datas[j:]):
                # Nothing, or whole records were cut out, which nobody can see.
                assert events == datas[:i] + datas[j:]
                return
    delivered = check(datas, events)
    if len(damage.replacement) >= damage.stop - damage.start:
        # Only what was touched is lost. (Where bytes are missing, a record can seem to
        # end where the one behind it does.)
        touched = {
            i
            for i, (start, stop) in enumerate(spans(datas))
            if start < max(damage.stop, damage.start + 1) and damage.start < stop
        }
        assert delivered >= set(range(len(datas))) - touched


@hypothesis.given(
    damaged_files(), st.sampled_from([1, 17, 64, None]), st.integers(1, 20)
)
def test_any_damage_of_plain_files(tmp_path_factory, file, size, count):
    datas, damage = file
    check_plain(tmp_path_factory.mktemp("plain"), datas, damage, size, count)


@hypothesis.given(
    bodies, st.sampled_from(["GZIP", "ZLIB"]), st.data(), st.integers(1, 20)
)
def test_any_damage_of_compressed_files(tmp_path_factory, datas, compression, data, n):
    packed = COMPRESS[compression](records(*datas))
    start = data.draw(st.integers(0, len(packed) - 1))
    stop = data.draw(st.integers(start, min(len(packed), start + 9)))
    damage = Damage(start, stop, data.draw(st.binary(max_size=9)))
    folder = tmp_path_factory.mktemp("packed")
    path = written(folder, damage.apply(packed))
    if not path.stat().st_size:  # an empty file is one of no records
        return
    events = events_of(path, compression, 64, n)
    found = [datas.index(event) for event in events if isinstance(event, bytes)]
    if found == sorted(set(found)):
        check(datas, events)
    else:
        # Deflated data copy what came before, and damaged ones may copy a whole
        # record. Only the checksum at their end can tell.
        assert isinstance(events[-1], DataLossError)


@pytest.mark.parametrize("seed", range(60))
def test_much_damage_of_long_files(tmp_path, seed):
    rng = random.Random(seed)
    datas = numbered([rng.randbytes(rng.randrange(400)) for _ in range(300)])
    data = records(*datas)
    for _ in range(rng.randrange(1, 12)):
        start = rng.randrange(len(data))
        stop = min(len(data), start + rng.choice([0, 0, 1, 8, 500]))
        data = Damage(start, stop, rng.randbytes(rng.choice([0, 1, 1, 8, 500]))).apply(
            data
        )
    compression = rng.choice([None, None, "GZIP", "ZLIB"])
    path = written(tmp_path, COMPRESS[compression](data))
    size = rng.choice([100, 5000, None])
    delivered = check(datas, events_of(path, compression, size, rng.choice([1, 1024])))
    assert len(delivered) > 200


def test_a_damaged_record_that_holds_records_does_not_give_them_away(tmp_path):
    inner = record(b"before") + records(b"a", b"b") + record(b"after")
    data = bytearray(ONE + record(inner) + TWO)
    data[19 + 12 + 13] ^= 1
    found = read_on(TFRecords().open(written(tmp_path, bytes(data))))
    assert found[0] == b"one"
    assert isinstance(found[1], DataLossError)
    assert found[2:] == [b"two"]
