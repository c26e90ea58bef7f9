"""The programs of TensorFlow's pages on strategies run through the facades.

Each file of ``programs`` is run by a Python of its own, as its reader would. Not among
them are the programs for parameter servers and TPUs, and the one with TensorFlow
Transform, which ``tests/unit/preprocessing/test_tf_transform.py`` has.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fresh_process import run_python

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_program_runs(program: Path, tmp_path: Path) -> None:
    run_python(str(program), folder=tmp_path)
