"""Parsing examples: one by one, and many of one layout at once."""

from __future__ import annotations

import random
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from example_bytes import Feature, entry, example, varint
from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.examples import readers
from replax._src.dataset.examples.by_message import read_messages
from replax._src.dataset.examples.columns import new_column
from replax._src.dataset.examples.features import (
    FixedLenFeature,
    SparseValues,
    VarLenFeature,
)
from replax._src.dataset.examples.layout import learn_layout
from replax._src.dataset.examples.parse import parse_example, parse_single_example
from replax._src.dataset.examples.readers import readers_of
from replax._src.dataset.examples.serialize import serialize_example

INT, FLOAT, STRING = np.dtype(np.int64), np.dtype(np.float32), np.dtype(object)


@pytest.fixture(autouse=True)
def _no_layouts_are_known():
    readers_of.cache_clear()


def by_protobuf(records: list[bytes], features: Any) -> dict[str, Any]:
    """What comes of it without any knowledge of layouts."""
    columns = {name: new_column(f, len(records)) for name, f in features.items()}
    rows = np.arange(len(records))
    read_messages(records, rows, "example {} of the batch", features, columns)
    return {name: column.batch() for name, column in columns.items()}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        pairs = [(value, other[name])]
        if isinstance(value, SparseValues):
            pairs = list(zip(value, other[name], strict=True))
        for a, b in pairs:
            assert a.dtype == b.dtype, name
            assert a.shape == b.shape, name
            # NaNs of all kinds are to be the same bits.
            same = (
                a.tolist() == b.tolist()
                if a.dtype == object
                else (a.tobytes() == b.tobytes())
            )
            assert same, name


def assert_same_outcome(records: list[bytes], features: Any) -> None:
    """The same values, or the same error."""
    outcomes: list[Any] = []
    for parse in (parse_example, by_protobuf):
        try:
            outcomes.append(parse(records, features))
        except InvalidArgumentError as error:
            outcomes.append(str(error))
    found, wanted = outcomes
    if isinstance(found, str) or isinstance(wanted, str):
        assert found == wanted
    else:
        assert_same(found, wanted)


FEATURES = {
    "number": FixedLenFeature([], "int64"),
    "numbers": FixedLenFeature([2, 3], "int64"),
    "real": FixedLenFeature([], "float32"),
    "reals": FixedLenFeature([3], "float32"),
    "word": FixedLenFeature([], "string"),
    "words": FixedLenFeature([2], "string"),
    "ints": VarLenFeature("int64"),
    "floats": VarLenFeature("float32"),
    "strings": VarLenFeature("string"),
    "default": FixedLenFeature([2], "int64", [7, 8]),
}


def made(seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    return {
        "number": rng.randrange(-5, 5),
        "numbers": [rng.randrange(-(2 ** rng.randrange(64)), 2**62) for _ in range(6)],
        "real": rng.random(),
        "reals": [rng.random() for _ in range(3)],
        "word": rng.randbytes(rng.choice([0, 3, 3, 3, 200])),
        "words": [rng.randbytes(4), b"\0"],
        "ints": np.array([rng.randrange(2**40) for _ in range(seed % 3)], np.int64),
        "floats": np.array([rng.random() for _ in range(seed % 4)], np.float32),
        "strings": ["a", "b"],
        "not asked for": [rng.randrange(300) for _ in range(rng.randrange(1, 5))],
    }


def known_layouts(features: Any) -> int:
    return len(readers_of(tuple(features.items()))._known)


@pytest.mark.parametrize("batch", [1, 11, 12, 13, 100, 256])
def test_batches_are_as_single_examples(batch):
    records = [serialize_example(made(i)) for i in range(batch)]
    found = parse_example(records, FEATURES)
    for name, feature in FEATURES.items():
        singles = [parse_single_example(record, FEATURES)[name] for record in records]
        if isinstance(feature, FixedLenFeature):
            assert found[name].dtype == feature.dtype
            assert found[name].shape == (batch, *feature.shape)
            assert found[name].tolist() == [single.tolist() for single in singles]
            continue
        most = max(len(single.values) for single in singles)
        assert found[name].dense_shape.tolist() == [batch, most]
        assert found[name].values.tolist() == [
            value for single in singles for value in single.values.tolist()
        ]
        assert found[name].indices.tolist() == [
            [i, *place]
            for i, single in enumerate(singles)
            for place in single.indices.tolist()
        ]
    assert_same(found, by_protobuf(records, FEATURES))


def test_one_example():
    found = parse_single_example(serialize_example(made(2)), FEATURES)
    wanted = made(2)
    assert found["number"] == wanted["number"]
    assert found["number"].shape == ()
    assert found["numbers"].tolist() == [wanted["numbers"][:3], wanted["numbers"][3:]]
    assert found["word"].item() == wanted["word"]
    assert found["words"].tolist() == wanted["words"]
    assert found["default"].tolist() == [7, 8]
    assert found["ints"].indices.tolist() == [[0], [1]]
    assert found["ints"].values.tolist() == wanted["ints"].tolist()
    assert found["ints"].dense_shape.tolist() == [2]


def test_records_of_one_layout_are_read_by_it():
    features = {"a": FixedLenFeature([], "int64"), "b": FixedLenFeature([2], "float32")}
    records = [serialize_example({"a": i, "b": [i, -0.5]}) for i in range(100)]
    columns = {name: new_column(f, 100) for name, f in features.items()}
    rest = readers_of(tuple(features.items())).read(records, columns)
    assert rest.tolist() == []
    assert known_layouts(features) == 1


def test_several_layouts_in_a_batch():
    features = {"a": FixedLenFeature([], "int64"), "b": VarLenFeature("string")}
    records = []
    for i in range(300):
        values: dict[str, Any] = {"a": i, "b": "x" * 20}
        if i % 3 == 1:
            del values["b"]
        if i % 3 == 2:
            values["b"] = ["x"] * (i % 2) + ["y" * 200]
        records.append(serialize_example(values))
    found = parse_example(records, features)
    assert_same(found, by_protobuf(records, features))
    assert known_layouts(features) >= 3
    assert_same(parse_example(records, features), found)


def test_layouts_are_not_learned_for_ever(monkeypatch):
    features = {f"f{i}": FixedLenFeature([], "int64") for i in range(8)}
    rng = random.Random(0)
    learned: list[bytes] = []
    monkeypatch.setattr(
        readers, "learn_layout", lambda r: learned.append(r) or learn_layout(r)
    )
    for _ in range(20):
        records = []
        for i in range(40):
            entries = [
                entry(name.encode(), bytes(Feature("i", (i,)))) for name in features
            ]
            rng.shuffle(entries)
            records.append(example(*entries))
        found = parse_example(records, features)
        assert found["f3"].tolist() == list(range(40))
    assert len(learned) <= 16


@pytest.mark.parametrize("place", [0, 5, 39])
def test_an_odd_record_among_others(place):
    features = {"a": FixedLenFeature([2], "int64"), "w": FixedLenFeature([], "string")}
    word = entry(b"w", bytes(Feature("O", (b"word",))))
    odd = {
        "another order": example(word, entry(b"a", bytes(Feature("i", (5, 6))))),
        "the name last": example(
            entry(b"a", bytes(Feature("i", (5, 6))), turned=True), word
        ),
        "not packed": example(
            entry(b"a", bytes(Feature("i", (5, 6), packed=False))), word
        ),
        "in two parts": example(
            entry(b"a", bytes(Feature("i", (5, 6), pieces=2))), word
        ),
        "long lengths": example(
            entry(b"a", bytes(Feature("i", (5, 6), width=3))), word, width=2
        ),
        "long numbers": example(
            entry(b"a", bytes(Feature("i", (5, 6), int_width=10))), word
        ),
        "twice": example(
            entry(b"a", bytes(Feature("i", (1, 2)))),
            word,
            entry(b"a", bytes(Feature("i", (5, 6)))),
        ),
        "other kind before": example(
            entry(b"a", bytes(Feature("f", (1.0,))) + bytes(Feature("i", (5, 6)))), word
        ),
        "unknown fields": example(
            entry(b"a", bytes(Feature("i", (5, 6), trailing=b"\x48\x05"))), word
        )
        + b"\x48\x05",
        "two halves": example(word) + example(entry(b"a", bytes(Feature("i", (5, 6))))),
    }
    for name, record in odd.items():
        records = [serialize_example({"a": [i, -i], "w": "word"}) for i in range(40)]
        records[place] = record
        found = parse_example(records, features)
        assert found["a"][place].tolist() == [5, 6], name
        assert found["w"].tolist() == [b"word"] * 40
        assert found["a"][30].tolist() == ([5, 6] if place == 30 else [30, -30])


def test_numbers_beyond_64_bits_are_left_to_protobuf():
    features = {"a": FixedLenFeature([1], "int64")}
    tail = bytes([0xFF] * 9 + [0x7F])
    number = field_of_raw_int(tail)
    records = [serialize_example({"a": -1}) for _ in range(30)]
    records[7] = number
    assert_same_outcome(records, features)


def field_of_raw_int(raw: bytes) -> bytes:
    values = b"\x0a" + varint(len(raw)) + raw
    return example(entry(b"a", b"\x1a" + varint(len(values)) + values))


small_ints = st.one_of(
    st.integers(-3, 300), st.integers(-(2**63), 2**63 - 1), st.just(2**63 - 1)
)
floats = st.floats(width=32)


@st.composite
def written_features(draw: st.DrawFn, kind: str, least: int = 0, most: int = 3):
    values = {
        "i": small_ints,
        "f": floats,
        "O": st.binary(max_size=6),
        "": st.nothing(),
    }
    listed = (
        () if not kind else draw(st.lists(values[kind], min_size=least, max_size=most))
    )
    return bytes(
        Feature(
            kind,
            tuple(listed),
            packed=draw(st.integers(0, 9)) > 0,
            pieces=draw(st.sampled_from([1] * 9 + [2])),
            width=draw(st.sampled_from([0] * 9 + [2, 3])),
            int_width=draw(st.sampled_from([0] * 9 + [2, 10])),
            trailing=draw(st.sampled_from([b""] * 20 + [b"\x48\x05", b"\x1a\x00"])),
        )
    )


@st.composite
def written_examples(draw: st.DrawFn):
    kinds = {"a": "i", "b": "f", "c": "O", "d": "i", "e": "f", "z": "i"}
    entries = []
    for name, usual in kinds.items():
        kind = usual
        if draw(st.integers(0, 30)) == 0:
            continue
        fixed = 2 if name in "abc" else None
        if draw(st.integers(0, 40)) == 0:
            kind = draw(st.sampled_from(["", "i", "f", "O"]))
            fixed = None
        feature = draw(written_features(kind, fixed or 0, fixed or 3))
        turned = draw(st.integers(0, 40)) == 0
        entries.append(entry(name.encode(), feature, turned=turned))
    if draw(st.integers(0, 20)) == 0:
        entries = draw(st.permutations(entries))
    if entries and draw(st.integers(0, 20)) == 0:
        entries = [*entries, draw(st.sampled_from(entries))]
    record = example(*entries, width=draw(st.sampled_from([0] * 9 + [2])))
    change = draw(st.integers(0, 40))
    if change == 0:
        at = draw(st.integers(0, len(record) - 1))
        flip = bytes([record[at] ^ 1 << draw(st.integers(0, 7))])
        return record[:at] + flip + record[at + 1 :]
    if change == 1:
        return record[: draw(st.integers(0, len(record)))]
    if change == 2:
        return record + draw(st.binary(max_size=4))
    return record


WANTED = {
    "a": FixedLenFeature([2], "int64", [1, 2]),
    "b": FixedLenFeature([2], "float32", [1, 2]),
    "c": FixedLenFeature([2], "string", ["x", "y"]),
    "d": VarLenFeature("int64"),
    "e": VarLenFeature("float32"),
}


@hypothesis.given(st.data())
def test_batches_are_parsed_as_protobuf_parses_them(data):
    """Whatever form the records have, and if they are none."""
    records = data.draw(st.lists(written_examples(), min_size=1, max_size=6))
    # Often enough for a layout to be worth while, in any order.
    records = [
        r for r in records for _ in range(data.draw(st.sampled_from([1, 8, 20])))
    ]
    random.Random(len(records)).shuffle(records)
    names = data.draw(st.lists(st.sampled_from(list(WANTED)), min_size=1, unique=True))
    wanted = {name: WANTED[name] for name in names}
    for _ in range(2):  # learning the layouts, and knowing them
        assert_same_outcome(records, wanted)


def test_flips_of_every_bit_of_a_record():
    features = {
        "a": FixedLenFeature([1], "int64"),
        "b": FixedLenFeature([1], "float32"),
        "c": FixedLenFeature([1], "string"),
    }
    good = serialize_example({"a": 300, "b": 0.5, "c": "xy"})
    for at in range(len(good)):
        for bit in range(8):
            bad = bytearray(good)
            bad[at] ^= 1 << bit
            records = [good] * 13 + [bytes(bad)] + [good]
            assert_same_outcome(records, features)


ONE = serialize_example({"a": [1, 2], "f": 0.5})


@pytest.mark.parametrize("copies", [0, 30])
@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            serialize_example({"f": 0.5}),
            r"^example {} of the batch has no feature 'a'.*its features: 'f'.*default",
        ),
        (
            serialize_example({"a": [1.0, 2.0], "f": 0.5}),
            r"'a' of example {} of the batch holds float32 .* asks for int64; ask for",
        ),
        (
            serialize_example({"a": [1, 2], "f": 3}),
            r"'f' of example {} of the batch holds int64 .* VarLenFeature asks for fl",
        ),
        (
            serialize_example({"a": [1, 2, 3], "f": 0.5}),
            r"'a' of example {} of the batch has 3 values, .* shape \[2\] .* has 2",
        ),
        (
            serialize_example({"a": np.array([], np.int64), "f": 0.5}),
            r"'a' of example {} of the batch has 0 values, .* shape \[2\] .* has 2",
        ),
        (
            b"no example",
            r"example {} of the batch is no serialized .* 10 bytes b'no example'",
        ),
    ],
)
def test_errors_say_which_example_and_which_feature(record, said, copies):
    features = {"a": FixedLenFeature([2], "int64"), "f": VarLenFeature("float32")}
    batch = [ONE] * copies + [record] + [ONE] * copies
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match=said.format(copies)):
            parse_example(batch, features)
        parse_example([ONE] * 30, features)
    one = said.replace("example {} of the batch", "the example")
    with pytest.raises(InvalidArgumentError, match=one):
        parse_single_example(record, features)


def test_what_is_missing_has_the_default_and_no_values():
    features = {
        "a": FixedLenFeature([2], "int64", [7, 8]),
        "b": FixedLenFeature([], "string", "none"),
        "v": VarLenFeature("float32"),
    }
    none = example(entry(b"a", bytes(Feature(""))))
    for copies in (1, 30):
        found = parse_example([none, b""] * copies, features)
        assert found["a"].tolist() == [[7, 8]] * 2 * copies
        assert found["b"].tolist() == [b"none"] * 2 * copies
        assert found["v"].indices.shape == (0, 2)
        assert found["v"].dense_shape.tolist() == [2 * copies, 0]


def test_an_empty_batch():
    found = parse_example([], FEATURES)
    assert found["numbers"].shape == (0, 2, 3)
    assert found["ints"].dense_shape.tolist() == [0, 0]


def test_examples_come_as_lists_and_arrays_of_objects():
    wanted = {"a": FixedLenFeature([2], "int64")}
    for batch in ([ONE], (ONE,), np.array([ONE], object)):
        assert parse_example(batch, wanted)["a"].tolist() == [[1, 2]]
    for one in (ONE, np.array(ONE, object), np.bytes_(ONE)):
        assert parse_example(one, wanted)["a"].tolist() == [1, 2]
        assert parse_single_example(one, wanted)["a"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("batch", "error", "said"),
    [
        ("text", TypeError, r"come as a str; write a list of bytes"),
        ([ONE, "text"], TypeError, r"example 1 of the batch is of type str"),
        (np.array([ONE]), TypeError, r"drops zero bytes .* dtype=object"),
        (np.array([[ONE]], object), ValueError, r"shape \(1, 1\).*examples.ravel"),
    ],
)
def test_other_examples_are_refused(batch, error, said):
    with pytest.raises(error, match=said):
        parse_example(batch, {"a": FixedLenFeature([2], "int64")})


@pytest.mark.parametrize(
    ("features", "error", "said"),
    [
        ({}, ValueError, r"asks for nothing; write a dict"),
        (None, ValueError, r"asks for nothing; write a dict"),
        ({"a": "int64"}, TypeError, r"features\['a'\] is 'int64'; .* FixedLenFeature"),
        ({1: VarLenFeature("int64")}, TypeError, r"features\[1\] .* names are strings"),
    ],
)
def test_features_are_checked(features, error, said):
    for parse in (parse_example, parse_single_example):
        with pytest.raises(error, match=said):
            parse(ONE, features)


def test_results_can_be_written_to_and_are_not_shared():
    features = {"a": FixedLenFeature([2], "int64"), "f": FixedLenFeature([], "float32")}
    batch = [ONE] * 30
    first = parse_example(batch, features)
    for value in first.values():
        value[...] = 0
    second = parse_example(batch, features)
    assert second["a"].tolist() == [[1, 2]] * 30
    assert second["f"].tolist() == [0.5] * 30
