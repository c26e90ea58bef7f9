"""The public surface, walked once for all tests that look at it."""

from __future__ import annotations

import json

import pytest

from architecture.surface import Entry
from fresh_process import run_python


@pytest.fixture(scope="session")
def surface() -> list[Entry]:
    printed = run_python("-m", "architecture.surface")
    return [Entry(**entry) for entry in json.loads(printed.splitlines()[-1])]
