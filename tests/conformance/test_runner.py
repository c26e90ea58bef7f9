"""The runner reports whatever happens to a case, and leaves no process behind."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.case_file import plain, read_case, same
from conformance.runner import ConformanceError, Runner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.case_file import Case

FACADE = """
import os, types
print("noise on standard output")
pid = os.getpid()
config = types.SimpleNamespace(
    list_physical_devices=lambda kind: ["cpu"],
    LogicalDeviceConfiguration=object,
    set_logical_device_configuration=lambda cpu, parts: globals().update(parts=parts),
)
"""


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    folder = tmp_path_factory.mktemp("library")
    (folder / "made_up" / "compat").mkdir(parents=True)
    (folder / "made_up" / "compat" / "v2.py").write_text(FACADE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        with Runner("made_up") as one_for_all_tests:
            yield one_for_all_tests


def _case(folder: Path, body: str, constants: str = "") -> Case:
    path = folder / "area" / "name.py"
    path.parent.mkdir(exist_ok=True)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(f'"""Made up."""\n{constants}\ndef case(tf):\n{lines}')
    return read_case(path)


def test_an_answer_comes_back(runner: Runner, tmp_path: Path) -> None:
    case = _case(tmp_path, "print('noise')\nreturn [len(tf.parts)]", "REPLICAS = 3")
    assert runner.answer(case) == [3]


def test_a_case_has_a_process_and_an_empty_folder_of_its_own(
    runner: Runner, tmp_path: Path
) -> None:
    body = "import os\nreturn [os.listdir(), os.getpid() != tf.pid, os.getpgid(0)]"
    first, second = (runner.answer(_case(tmp_path, body)) for _ in range(2))
    assert first[:2] == second[:2] == [[], True]
    assert first[2] != second[2]


def test_workers_know_their_cluster(runner: Runner, tmp_path: Path) -> None:
    body = "import json, os\nreturn json.loads(os.environ['TF_CONFIG'])"
    one, two = runner.answer(_case(tmp_path, body, "WORKERS = 2"))
    assert one["cluster"] == two["cluster"]
    assert len(set(one["cluster"]["worker"])) == 2
    assert [one["task"]["index"], two["task"]["index"]] == [0, 1]


def test_a_crash_is_reported_with_what_was_printed(
    runner: Runner, tmp_path: Path
) -> None:
    case = _case(tmp_path, "print('before')\nraise KeyError('mine')")
    with pytest.raises(ConformanceError, match=r"crashed with KeyError[^$]*before"):
        runner.answer(case)


def test_a_death_is_reported_and_the_next_case_runs(
    runner: Runner, tmp_path: Path
) -> None:
    with pytest.raises(ConformanceError, match="worker 0 died"):
        runner.answer(_case(tmp_path, "import os\nos.abort()"))
    assert runner.answer(_case(tmp_path, "return 1")) == 1


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks into /proc")
def test_a_hang_is_ended_with_its_children(runner: Runner, tmp_path: Path) -> None:
    note = tmp_path / "child"
    body = f"""
import pathlib, subprocess, time
child = subprocess.Popen(["sleep", "600"])
pathlib.Path({str(note)!r}).write_text(str(child.pid))
time.sleep(600)
"""
    with pytest.raises(ConformanceError, match="gave no answer in 1 s"):
        runner.answer(_case(tmp_path, body, "TIMEOUT = 1"))
    deadline = time.monotonic() + 5
    while _lives(int(note.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_library_that_cannot_be_imported_is_reported(tmp_path: Path) -> None:
    with Runner("there_is_no_such_library") as runner:
        for _ in range(2):
            with pytest.raises(ConformanceError, match="No module named"):
                runner.answer(_case(tmp_path, "return 1"))


def test_answers_are_compared_by_kind_and_up_to_rounding() -> None:
    assert same(plain({"a": (1, 2.0)}), {"a": [1.0, 2.0000001]})
    assert not same(1, True)
    assert not same([1], [1, 2])
    assert not same("nan", None)
    assert plain([float("inf"), b"x"]) == ["inf", "x"]


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False
