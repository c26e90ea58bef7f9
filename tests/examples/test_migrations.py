"""The programs of docs/migrate.md print the same before and after."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from fresh_process import EIGHT_DEVICES, ROOT, run_python

FOLDER = ROOT / "examples" / "migrate"
NEEDS = {
    "accelerate": ["accelerate", "torch"],
    "keras": ["keras"],
    "tensorflow": ["tensorflow"],
    "torch": ["torch"],
}
EXPECTED = {
    "accelerate": "loss 0.390\nslope [0.93  1.839 2.585] offset 0.401\n",
    "keras": "loss 0.590\nslope [0.93  1.839 2.585] offset 0.401\n",
    "tensorflow": "loss 0.390\nslope [0.93  1.839 2.585] offset 0.401\n",
    "torch": "loss 1.043\nslope [1.532 2.81  3.935] offset 0.698\n",
}
# These two set their devices up themselves, or are given them by the reader.
SET_UP_THEMSELVES = {"keras", "tensorflow"}


def installed(names: list[str]) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


@pytest.mark.parametrize("name", NEEDS)
def test_before(name: str, tmp_path: Path) -> None:
    if not installed(NEEDS[name]):
        pytest.skip(f"{NEEDS[name]} are not installed; see `make foreign`")
    assert _printed_before(name, tmp_path) == EXPECTED[name]


def _printed_before(name: str, folder: Path) -> str:
    path = str(FOLDER / name / "before.py")
    for _ in range(4):
        try:
            return run_python(path, folder=folder)
        except AssertionError as error:
            # On a busy machine processes of torch abort now and then when they end.
            if "terminated with signal SIGABRT" not in str(error):
                raise
    return run_python(path, folder=folder)


@pytest.mark.parametrize("name", NEEDS)
def test_after(name: str, tmp_path: Path) -> None:
    if name == "accelerate" and not installed(["torch"]):
        pytest.skip("torch is not installed; see `make foreign`")
    path = FOLDER / name / "after.py"
    if name in SET_UP_THEMSELVES:
        printed = run_python(str(path), folder=tmp_path)
    else:
        runs = f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')"
        printed = run_python("-c", EIGHT_DEVICES + runs, folder=tmp_path)
    assert printed == EXPECTED[name]
