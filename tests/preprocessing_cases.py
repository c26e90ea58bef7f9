"""Programs with preprocessing layers, whose answers TensorFlow's layers have given.

``python tests/preprocessing_cases.py`` writes the answers anew; it needs TensorFlow.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).parent / "unit" / "preprocessing" / "answers.json"

Arguments = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Case:
    """A layer, what it learns from, and what it is given.

    Attributes:
      layer: The name of its class.
      arguments: Of its class.
      inputs: Arrays that it is called with, one after the other.
      adapt: An array to learn from.
      batch: How many rows of it each batch has; None to give the array itself.
    """

    layer: str
    arguments: Arguments
    inputs: tuple[np.ndarray, ...]
    adapt: np.ndarray | None = None
    batch: int | None = None

    @property
    def name(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        if self.adapt is not None:
            given += f", adapt={self.adapt.dtype.kind}{list(self.adapt.shape)}"
            given += "" if self.batch is None else f" by {self.batch}"
        return f"{self.layer}({given})"


def texts(values: Any) -> np.ndarray:
    """Nested lists of strings, as an array of ``bytes``."""
    array = np.array(values, object)
    flat = [v if isinstance(v, bytes) else v.encode() for v in array.ravel()]
    encoded = np.empty(len(flat), object)
    encoded[:] = flat
    return encoded.reshape(array.shape)


def scattered(count: int, below: int) -> np.ndarray:
    """Whole numbers without an order, the same on every machine."""
    return np.array([(i * 2654435761 + i * i * 40503) % below for i in range(count)])


WORDS = texts([f"w{n * n % 23}" for n in range(60)])
NUMBERS = scattered(60, 17) - 5
REALS = (scattered(900, 100_003) / 1000.0).astype(np.float32)
MANY_BYTES = texts(
    [bytes((i * n * 7 + n) % 256 for i in range(n)) for n in [*range(200), 1000, 4099]]
)
IN_VOCABULARY = (
    texts("b"),
    texts(["a", "c"]),
    texts([["c", "a", "a"], ["b", "b", "a"]]),
)
UNKNOWN = (texts([["a", "q"], ["", "zz"]]), texts([["ä"], ["b"]]))
DEEP = (texts([[["a"], ["q"]]]), texts([[["a", "b"], ["q", "a"]]]))
KNOWN_NUMBERS = (
    np.array(7),
    np.array([7, -2]),
    np.array([[7, 7, 10**12], [-2, 7, -2]]),
)
UNKNOWN_NUMBERS = (np.array([[7, 8], [-9, -(2**63)]]), np.array([[3], [7]], np.int32))


def string_lookups() -> Iterator[Case]:
    modes = ("int", "one_hot", "multi_hot", "count")
    for mode, buckets, mask in itertools.product(modes, (0, 1, 3), (None, "")):
        arguments = {
            "vocabulary": ["a", "b", "c"],
            "output_mode": mode,
            "num_oov_indices": buckets,
            "mask_token": mask,
        }
        inputs = IN_VOCABULARY if buckets == 0 else (*IN_VOCABULARY, *UNKNOWN)
        if buckets and mode in ("int", "one_hot"):
            inputs += DEEP
        yield Case("StringLookup", arguments, inputs)
    base: Arguments = {"vocabulary": ["a", "b", "c"]}
    for salt in (5, (133, 137)):
        arguments = {**base, "num_oov_indices": 4, "salt": salt}
        yield Case("StringLookup", arguments, (MANY_BYTES, *UNKNOWN))
    padded = {"output_mode": "count", "max_tokens": 9, "pad_to_max_tokens": True}
    yield Case("StringLookup", {**base, **padded}, UNKNOWN)
    weighted = {"output_mode": "tf_idf", "idf_weights": [0.25, 0.5, 2.0]}
    yield Case("StringLookup", {**base, **weighted}, (*IN_VOCABULARY, *UNKNOWN))
    specials = {
        "vocabulary": ["[UNK]", "a", "b"],
        "output_mode": "tf_idf",
        "idf_weights": [9.0, 1.0, 3.0],
    }
    yield Case("StringLookup", specials, UNKNOWN)
    yield Case(
        "StringLookup", {**weighted, **padded, **base, "output_mode": "tf_idf"}, UNKNOWN
    )
    for mask, buckets in itertools.product((None, ""), (0, 1, 2)):
        arguments = {**base, "invert": True, "mask_token": mask}
        arguments["num_oov_indices"] = buckets
        yield Case("StringLookup", arguments, (np.array([[0, 1, 2], [3, 9, -1]]),))


def learned_strings() -> Iterator[Case]:
    inputs = (WORDS, texts([["w1", "w4"], ["new", "w0"]]))
    for batch, shape in ((None, (60,)), (None, (12, 5)), (7, (60,)), (5, (12, 5))):
        data = WORDS.reshape(shape)
        yield Case("StringLookup", {}, inputs, data, batch)
        yield Case(
            "StringLookup", {"max_tokens": 5, "mask_token": "w1"}, inputs, data, batch
        )
        arguments = {"output_mode": "tf_idf", "oov_token": "w9"}
        yield Case("StringLookup", arguments, inputs, data, batch)
    arguments = {"output_mode": "tf_idf", "max_tokens": 30, "pad_to_max_tokens": True}
    yield Case("StringLookup", arguments, inputs, WORDS.reshape(12, 5), 5)


def integer_lookups() -> Iterator[Case]:
    modes = ("int", "one_hot", "multi_hot", "count")
    for mode, buckets, mask in itertools.product(modes, (0, 1, 3), (None, 0)):
        arguments = {
            "vocabulary": [7, -2, 10**12],
            "output_mode": mode,
            "num_oov_indices": buckets,
            "mask_token": mask,
        }
        inputs = KNOWN_NUMBERS if buckets == 0 else (*KNOWN_NUMBERS, *UNKNOWN_NUMBERS)
        yield Case("IntegerLookup", arguments, inputs)
    base: Arguments = {"vocabulary": [7, -2], "num_oov_indices": 5}
    for salt in (None, 5, (133, 137)):
        arguments = {**base, "oov_method": "farmhash", "salt": salt}
        yield Case("IntegerLookup", arguments, (NUMBERS, *UNKNOWN_NUMBERS))
    for mask in (None, 0):
        arguments = {"vocabulary": [7, -2], "invert": True, "mask_token": mask}
        yield Case("IntegerLookup", arguments, (np.array([[0, 1, 2], [3, 9, -1]]),))
    for batch, shape in ((None, (60,)), (7, (60,)), (5, (12, 5))):
        data = NUMBERS.reshape(shape)
        yield Case("IntegerLookup", {}, (NUMBERS,), data, batch)
        yield Case("IntegerLookup", {"max_tokens": 4}, (NUMBERS,), data, batch)
        yield Case("IntegerLookup", {"output_mode": "tf_idf"}, (NUMBERS,), data, batch)


def hashings() -> Iterator[Case]:
    for bins, salt in itertools.product(
        (1, 3, 1000, 2**40 + 1), (None, 133, (133, 137))
    ):
        arguments = {"num_bins": bins, "salt": salt}
        numbers = np.array([0, -1, 9, 10, -10, 99, 12345, 2**63 - 1, -(2**63)])
        reals = np.array([0.0, 1.9, -2.9, 1e9], np.float32)
        inputs = (MANY_BYTES, numbers, NUMBERS.astype(np.int32), reals)
        yield Case("Hashing", arguments, inputs)
    for mask in ("", 0):
        inputs = UNKNOWN if mask == "" else (np.array([[0, 1], [2, 0]]),)
        yield Case("Hashing", {"num_bins": 5, "mask_value": mask}, inputs)
        yield Case("Hashing", {"num_bins": 1, "mask_value": mask}, inputs)
    for mode in ("one_hot", "multi_hot", "count"):
        inputs = (
            texts(["a", "b"]),
            texts([["a"], ["b"]]),
            texts([["a", "b"], ["b", "b"]]),
        )
        yield Case("Hashing", {"num_bins": 3, "output_mode": mode}, inputs)
    yield Case("Hashing", {"num_bins": 3, "dtype": "int32"}, (NUMBERS,))


def encodings() -> Iterator[Case]:
    for mode in ("one_hot", "multi_hot", "count"):
        inputs = (
            np.array(2),
            np.array([1, 2, 1]),
            np.array([[0], [3]]),
            np.array([[0, 3], [3, 3]], np.int32),
        )
        yield Case("CategoryEncoding", {"num_tokens": 4, "output_mode": mode}, inputs)


def discretizations() -> Iterator[Case]:
    for mode in ("int", "one_hot", "multi_hot", "count"):
        inputs = (
            np.array(0.5, np.float32),
            np.array([0.0, -1.0, 1.0, np.nan, np.inf, -np.inf], np.float32),
            np.array([[0.5], [3.0]], np.float32),
            np.array([[0.1, 0.2], [5.0, -5.0]], np.float32),
        )
        bounds = {"bin_boundaries": [0.0, 0.1, 1.0], "output_mode": mode}
        yield Case("Discretization", bounds, inputs)
    for count, epsilon in itertools.product((2, 3, 10, 100), (0.01, 0.2, 0.001)):
        arguments = {"num_bins": count, "epsilon": epsilon}
        for batch in (None, 7, 200):
            yield Case("Discretization", arguments, (REALS,), REALS, batch)


def normalizations() -> Iterator[Case]:
    images = REALS.reshape(50, 3, 2, 3)
    for axis, data in itertools.product((-1, None, (1, 3)), (images,)):
        for batch, invert in itertools.product((None, 20), (False, True)):
            arguments = {"axis": axis, "invert": invert}
            yield Case("Normalization", arguments, (data[:3],), data, batch)
    rows = REALS.reshape(300, 3)
    yield Case("Normalization", {}, (rows[:5],), rows, 1)
    given: list[tuple[Arguments, np.ndarray]] = [
        ({"mean": 3.0, "variance": 2.0}, rows),
        ({"mean": [1.0, 2.0, 3.0], "variance": [0.0, 2.0, 4.0]}, rows),
        ({"axis": None, "mean": 3.0, "variance": 2.0}, rows),
        (
            {"axis": (1, 3), "mean": [1.0, 2.0, 3.0], "variance": [1.0, 2.0, 4.0]},
            images,
        ),
    ]
    for arguments, data in given:
        yield Case("Normalization", arguments, (data[:4],))


MAKERS: tuple[Callable[[], Iterator[Case]], ...] = (
    string_lookups,
    learned_strings,
    integer_lookups,
    hashings,
    encodings,
    discretizations,
    normalizations,
)
CASES = {case.name: case for maker in MAKERS for case in maker()}


def as_json(array: Any) -> Any:
    """An array as JSON can hold it: its dtype, shape and flat values."""
    array = np.asarray(array)
    if array.dtype == object:
        return [
            "bytes",
            list(array.shape),
            [v.decode("latin-1") for v in array.ravel()],
        ]
    return [array.dtype.name, list(array.shape), array.ravel().tolist()]


def from_json(answer: Any) -> np.ndarray:
    """The array again."""
    dtype, shape, values = answer
    if dtype == "bytes":
        return texts([v.encode("latin-1") for v in values]).reshape(shape)
    return np.array(values, dtype).reshape(shape)


def tensorflow_answer(case: Case) -> Any:
    import keras
    import tensorflow as tf

    layer = getattr(keras.layers, case.layer)(**case.arguments)
    if case.adapt is not None:
        data = case.adapt
        if case.batch is not None:
            data = tf.data.Dataset.from_tensor_slices(data).batch(case.batch)
        layer.adapt(data)
    answer: dict[str, Any] = {
        "outputs": [as_json(layer(tf.constant(x)).numpy()) for x in case.inputs]
    }
    if hasattr(layer, "get_vocabulary"):
        plain = str if case.layer == "StringLookup" else int
        answer["vocabulary"] = [plain(token) for token in layer.get_vocabulary()]
        answer["size"] = layer.vocabulary_size()
    if case.layer == "Discretization":
        answer["boundaries"] = layer.bin_boundaries
    return answer


def main() -> None:
    os.environ["KERAS_BACKEND"] = "tensorflow"
    answers = {name: tensorflow_answer(case) for name, case in CASES.items()}
    lines = [f"{json.dumps(name)}: {json.dumps(a)}" for name, a in answers.items()]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
