"""``replax explain``."""

from __future__ import annotations

import re
from pathlib import Path

import click.testing
import pytest

from fresh_process import ROOT
from replax._src.cli.main import main


def run(*arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(main, ["explain", *arguments])


def test_numbers() -> None:
    given = "--rows 1000 --batch 64 --replicas 4 --workers 2 --policy data"
    result = run(*given.split())
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "range(1000).batch(64)",
        "replicas  4 of 2 workers",
        "policy    DATA: its options say DATA",
        "worker 0  rows 0-31 of every 64",
        "worker 1  rows 32-63 of every 64",
        "steps     16",
        "",
        "step  replicas 0-3",
        "1-15  16 rows",
        "  16  10 rows",
    ]


def test_epochs_and_remainders() -> None:
    given = "--rows 10 --batch 4 --drop-remainder --epochs 3"
    result = run(*given.split())
    assert "range(10).batch(4, drop_remainder=True).repeat(3)" in result.output
    assert "steps     6" in result.output


def test_files(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.tfrecord").touch()
    given = "--batch 8 --replicas 2 --workers 2"
    result = run(str(tmp_path / "*.tfrecord"), *given.split())
    assert f"worker 1  1 file: {tmp_path}/1.tfrecord" in result.output
    too_few = run(str(tmp_path / "*"), *given.replace("2", "4").split())
    assert too_few.exit_code == 1
    assert "3 files for 4 workers; use" in too_few.output


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("--batch 4", "give files, or --rows"),
        ("a.tfrecord --rows 4 --batch 4", "one of the two"),
        ("--rows 4 --batch 4 --replicas 3 --workers 2", "for example --replicas 4"),
        ("--rows 4 --batch 0", "0 is not in the range"),
        ("none-such-*.tfrecord --batch 4", "no file matches"),
        ("--rows 4 --batch 4 --workers 2 --replicas 2 --policy file", "no files in it"),
    ],
)
def test_what_makes_no_sense(given: str, message: str) -> None:
    result = run(*given.split())
    assert result.exit_code in {1, 2}
    assert message in " ".join(result.output.split())


COMMANDS = re.findall(
    r"^```console\n\$ replax explain (.*)\n((?:.*\n)*?)```",
    (ROOT / "docs" / "input.md").read_text(),
    re.MULTILINE,
)


@pytest.mark.parametrize(("given", "wanted"), COMMANDS)
def test_the_document_shows_what_is_printed(given: str, wanted: str) -> None:
    assert run(*given.split()).output == wanted
