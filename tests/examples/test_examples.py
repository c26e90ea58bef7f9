"""Every example runs to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fresh_process import ROOT, run_python

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted((ROOT / "examples").glob("*/train.py"))


@pytest.mark.parametrize("path", [pytest.param(p, id=p.parent.name) for p in EXAMPLES])
def test_example(path: Path, tmp_path: Path) -> None:
    run_python(str(path), folder=tmp_path)
