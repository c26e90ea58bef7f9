"""Lookups: what they take, files, configurations, and what they refuse."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replax.data import Dataset, Options
from replax.errors import InvalidArgumentError, NotFoundError
from replax.keras.layers import IntegerLookup, StringLookup

LETTERS = StringLookup(vocabulary=["a", "b", "ä"])


@pytest.mark.parametrize(
    "given",
    [
        ["b", "?", "ä"],
        [b"b", b"?", "ä".encode()],
        ["b", b"?", "ä"],
        ("b", "?", "ä"),
        np.array(["b", "?", "ä"]),
        np.array([b"b", b"?", "ä".encode()]),
        np.array([b"b", "?", "ä"], object),
        np.array(["b", "?", "ä"], np.dtypes.StringDType()),
    ],
    ids=lambda given: f"{type(given).__name__} {getattr(given, 'dtype', given)}",
)
def test_strings_of_every_kind_are_looked_up(given: Any) -> None:
    found = LETTERS(given)
    assert found.dtype == np.int64
    assert found.tolist() == [2, 0, 3]


def test_nothing_is_looked_up_in_an_empty_batch() -> None:
    assert LETTERS(np.zeros((0, 2), object)).shape == (0, 2)
    assert IntegerLookup(vocabulary=[1])(np.zeros((0, 2), np.int64)).shape == (0, 2)


def test_strings_with_zeros_in_them_are_not_shortened() -> None:
    lookup = StringLookup(vocabulary=[b"a", b"a\0", b"a\0\0"], num_oov_indices=2)
    assert lookup([b"a", b"a\0", b"a\0\0"]).tolist() == [2, 3, 4]
    assert lookup.get_vocabulary(include_special_tokens=False) == ["a", "a\0", "a\0\0"]


def test_other_encodings_are_those_of_bytes() -> None:
    lookup = StringLookup(vocabulary=["ä"], encoding="latin-1")
    assert lookup([b"\xe4", "ä"]).tolist() == [1, 1]
    assert lookup.get_vocabulary() == ["[UNK]", "ä"]


def test_they_are_mapped_over_elements_and_over_batches() -> None:
    data = Dataset.from_tensor_slices(["b", "a", "z"])
    assert [int(x) for x in data.map(LETTERS)] == [2, 1, 0]
    assert [x.tolist() for x in data.batch(2).map(LETTERS)] == [[2, 1], [0]]
    spec: Any = data.batch(2).map(LETTERS).element_spec
    assert spec.dtype == np.int64


def test_names_come_back_as_bytes() -> None:
    named = StringLookup(vocabulary=["a", "b"], invert=True)
    found = named(np.array([[1, 2], [0, 7]]))
    assert found.dtype == object
    assert found.tolist() == [[b"a", b"b"], [b"[UNK]", b"[UNK]"]]
    assert named(2) == b"b"


def test_worker_processes_look_up_without_keras() -> None:
    options = Options()
    options.worker_processes = 1

    def looked_up(x: Any) -> Any:
        import sys

        assert "keras" not in sys.modules
        return LETTERS(x)

    data = Dataset.from_tensor_slices(["b", "a", "z"]).batch(2).map(looked_up)
    assert [x.tolist() for x in data.with_options(options)] == [[2, 1], [0]]


@pytest.mark.parametrize("content", [b"b\na\n", b"b\na", b"b\r\na\r\n"])
def test_vocabularies_are_read_from_files(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(content)
    for given in (path, str(path)):
        assert StringLookup(vocabulary=given).get_vocabulary() == ["[UNK]", "b", "a"]


def test_special_tokens_in_files_are_tokens_like_others(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text("[UNK]\na\n")
    lookup = StringLookup(vocabulary=path)
    assert lookup.get_vocabulary() == ["[UNK]", "[UNK]", "a"]
    assert StringLookup.from_config(lookup.get_config())(["a"]).tolist() == [2]


def test_whole_numbers_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text("70\n-5\n")
    assert IntegerLookup(vocabulary=str(path))([-5, 70, 0]).tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\n\nb\n", "line 2 of the vocabulary file .* is empty"),
        ("a\nb\na\n", "more than once: b'a'"),
        ("", "is empty; give at least one token"),
    ],
)
def test_files_that_are_no_vocabulary_are_refused(
    content: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        StringLookup(vocabulary=path)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.txt"
    with pytest.raises(
        NotFoundError, match=f"no vocabulary file '{re.escape(str(path))}'"
    ):
        StringLookup(vocabulary=path)


def test_a_file_of_words_is_no_vocabulary_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text("1\ntwo\n")
    with pytest.raises(InvalidArgumentError, match=r"no whole number.*StringLookup"):
        IntegerLookup(vocabulary=path)


LOOKUPS = {
    "strings": StringLookup(vocabulary=["a", "b"], mask_token="", num_oov_indices=2),
    "salt": StringLookup(vocabulary=["a"], num_oov_indices=3, salt=(5, 6), name="mine"),
    "weights": StringLookup(
        vocabulary=["a", "b"], output_mode="tf_idf", idf_weights=[0.5, 2.0]
    ),
    "padded": StringLookup(
        vocabulary=["a", "b"],
        output_mode="tf_idf",
        idf_weights=[0.1, 0.7],
        max_tokens=7,
        pad_to_max_tokens=True,
    ),
    "names": StringLookup(vocabulary=["a", "b"], invert=True),
    "numbers": IntegerLookup(vocabulary=[7, 2**40], mask_token=0),
    "hashed": IntegerLookup(vocabulary=[7], num_oov_indices=9, oov_method="farmhash"),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_configurations_and_pickles_make_the_same_lookup(name: str) -> None:
    lookup = LOOKUPS[name]
    strings = isinstance(lookup, StringLookup) and not lookup.options.invert
    given = ["a", "z", "b", ""] if strings else [7, 1, 0, 2**40, 5]
    config = json.loads(json.dumps(lookup.get_config()))
    for other in (type(lookup).from_config(config), pickle.loads(pickle.dumps(lookup))):
        assert other.get_config() == lookup.get_config()
        assert other.name == lookup.name
        np.testing.assert_array_equal(other(given), lookup(given))


def test_what_was_learned_is_part_of_the_configuration() -> None:
    lookup = StringLookup(output_mode="tf_idf")
    lookup.adapt([["a", "b"], ["b", "c"]])
    other = StringLookup.from_config(lookup.get_config())
    np.testing.assert_array_equal(other([["b", "q"]]), lookup([["b", "q"]]))
    other.adapt(["x"])
    assert other.get_vocabulary() == ["[UNK]", "x"]


def test_configurations_of_keras_are_taken() -> None:
    policy = {
        "module": "keras",
        "class_name": "DTypePolicy",
        "config": {"name": "float32"},
    }
    config = {
        "name": "ids",
        "trainable": True,
        "dtype": policy,
        "vocabulary": ["a", "b"],
        "vocabulary_size": 3,
        "oov_method": "floormod",
        "sparse": False,
        "salt": None,
    }
    assert StringLookup.from_config(config)(["b"]).tolist() == [2]


def test_a_vocabulary_can_be_replaced() -> None:
    lookup = IntegerLookup()
    lookup.set_vocabulary([3, 4])
    lookup.set_vocabulary(np.array([-1, 9]))
    assert lookup.get_vocabulary() == [-1, 9]
    lookup.adapt(np.array([6, 6, 5]))
    assert lookup.get_vocabulary() == [-1, 6, 5]
    assert lookup.vocabulary_size() == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vocabulary": []}, "is empty; give at least one token"),
        ({"vocabulary": ["a", "a"]}, "more than once: b'a'; give each once"),
        ({"vocabulary": ["a", "m"], "mask_token": "m"}, "its mask_token 'm' among"),
        (
            {"vocabulary": ["a", "[UNK]"], "invert": True},
            r"its oov_token '\[UNK\]' among the tokens; leave it out",
        ),
        ({"vocabulary": ["a", "b"], "max_tokens": 2}, "3 entries.*max_tokens is 2"),
        ({"vocabulary": ["a"], "output_mode": "tf_idf"}, '"tf_idf" needs idf_weights'),
        ({"vocabulary": ["a"], "idf_weights": [1.0]}, '"int" takes no idf_weights'),
        (
            {"vocabulary": ["a"], "idf_weights": [1.0, 2.0], "output_mode": "tf_idf"},
            r"shape \[2\], and there are 1 tokens",
        ),
        ({"idf_weights": [1.0], "output_mode": "tf_idf"}, "no vocabulary; give both"),
        ({"max_tokens": 1}, "max_tokens of StringLookup is 1; give more than 1"),
        ({"pad_to_max_tokens": True}, "without max_tokens; give both"),
        ({"num_oov_indices": -1}, "num_oov_indices of StringLookup is -1; give 0"),
        ({"output_mode": "hot"}, 'is \'hot\'; it is one of "int", "one_hot"'),
        ({"invert": True, "output_mode": "count"}, 'give output_mode="int"'),
        ({"sparse": True}, "sparse=True.*leave it out"),
        ({"salt": "x"}, "salt of StringLookup is 'x'; give a whole number"),
        ({"oov_method": "md5"}, '\'md5\'; it is "floormod" or "farmhash"'),
    ],
)
def test_arguments_that_make_no_lookup_are_refused(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        StringLookup(**arguments)


def test_numbers_have_rules_of_their_own() -> None:
    with pytest.raises(
        ValueError, match=r'int32.*looked up as "int64", so leave it out'
    ):
        IntegerLookup(vocabulary_dtype="int32")
    with pytest.raises(ValueError, match=r'salt=5.*give oov_method="farmhash"'):
        IntegerLookup(salt=5)
    with pytest.raises(ValueError, match=r"token 1\.5, which is no whole number"):
        IntegerLookup(vocabulary=[1.5])


def test_without_a_place_for_it_an_unknown_token_is_an_error() -> None:
    lookup = StringLookup(vocabulary=["a"], num_oov_indices=0)
    with pytest.raises(
        InvalidArgumentError, match="'q', and num_oov_indices is 0; give"
    ):
        lookup(["a", "q"])


def test_without_a_vocabulary_there_is_nothing_to_look_up() -> None:
    with pytest.raises(RuntimeError, match=r"no vocabulary yet.*call adapt"):
        StringLookup()(["a"])


def test_strings_and_numbers_are_not_mixed_up() -> None:
    with pytest.raises(TypeError, match=r"StringLookup got an array of int64.*Integer"):
        LETTERS(np.array([1, 2]))
    with pytest.raises(TypeError, match="5 is a int, and no string; give str or bytes"):
        LETTERS(np.array(["a", 5], object))
    with pytest.raises(TypeError, match="takes whole numbers; for strings use String"):
        IntegerLookup(vocabulary=[1])(["a"])


def test_a_vocabulary_that_was_given_is_not_learned_anew() -> None:
    with pytest.raises(
        ValueError, match=r"was made with a vocabulary.*leave vocabulary out"
    ):
        StringLookup(vocabulary=["a"]).adapt(["b"])
