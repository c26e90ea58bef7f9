"""The programs in the README and in the documents run as they are printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fresh_process import EIGHT_DEVICES, ROOT, run_python

if TYPE_CHECKING:
    from pathlib import Path

# A fence of ```python is run; one of ```text or ```console is only shown.
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_PROGRAMS = [p for p in DOCUMENTS if FENCE.search(p.read_text())]


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=str(p.relative_to(ROOT))) for p in WITH_PROGRAMS]
)
def test_programs_run(path: Path, tmp_path: Path) -> None:
    """One after the other in one process, as a reader would type them."""
    programs = FENCE.findall(path.read_text())
    run_python("-c", EIGHT_DEVICES + "\n".join(programs), folder=tmp_path)
