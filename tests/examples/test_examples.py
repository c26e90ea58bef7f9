"""Every example runs to its end, on one device and on several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fresh_process import ROOT, run_python

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted((ROOT / "examples").glob("*/train.py"))


@pytest.mark.parametrize("path", [pytest.param(p, id=p.parent.name) for p in EXAMPLES])
@pytest.mark.parametrize("devices", ["1", "3"])
def test_example(
    path: Path, devices: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", devices)
    run_python(str(path), folder=tmp_path)
