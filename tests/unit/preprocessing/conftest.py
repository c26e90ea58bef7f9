"""The two forms of layers, whatever else was imported by the process of the tests."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def without_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes layers plain, as in a program that has not imported Keras."""
    monkeypatch.delitem(sys.modules, "keras", raising=False)


@pytest.fixture
def with_keras() -> None:
    """Makes layers those of Keras."""
    import keras

    assert "keras" in sys.modules
    assert keras.backend.backend() == "jax"
