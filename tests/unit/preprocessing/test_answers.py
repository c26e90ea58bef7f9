"""The layers give what TensorFlow's have given, as it was written down."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import replax
from preprocessing_cases import ANSWERS, CASES, Case, from_json

RECORDED: dict[str, Any] = json.loads(ANSWERS.read_text())


def made(case: Case) -> Any:
    """The layer of a case, when it has learned."""
    layer = getattr(replax.keras.layers, case.layer)(**case.arguments)
    if case.adapt is not None:
        data = case.adapt
        if case.batch is not None:
            data = replax.data.Dataset.from_tensor_slices(data).batch(case.batch)
        layer.adapt(data)
    return layer


def assert_same(found: Any, recorded: Any) -> None:
    wanted = from_json(recorded)
    found = np.asarray(found)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)
    else:
        np.testing.assert_array_equal(found, wanted)


def test_every_case_has_an_answer_of_its_own() -> None:
    assert list(RECORDED) == list(CASES)


@pytest.mark.usefixtures("without_keras")
@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_tensorflows(name: str) -> None:
    check(name)


@pytest.mark.usefixtures("with_keras")
@pytest.mark.parametrize("name", CASES)
def test_the_answer_of_layers_of_keras_is_tensorflows(name: str) -> None:
    check(name)


def check(name: str) -> None:
    case, recorded = CASES[name], RECORDED[name]
    layer = made(case)
    for given, wanted in zip(case.inputs, recorded["outputs"], strict=True):
        assert_same(layer(given), wanted)
    if "vocabulary" in recorded:
        assert layer.get_vocabulary() == recorded["vocabulary"]
        assert layer.vocabulary_size() == recorded["size"]
    if "boundaries" in recorded:
        np.testing.assert_allclose(
            layer.bin_boundaries, recorded["boundaries"], rtol=1e-6
        )
