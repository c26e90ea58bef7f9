"""Replax gives the answers that TensorFlow gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance import areas
from conformance.case_file import EXPECTED, Case, all_cases
from conformance.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = all_cases()


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    with Runner() as one_for_all_cases:
        yield one_for_all_cases


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c.name) for c in CASES if areas.why_not(c) is None]
)
def test_case(runner: Runner, case: Case) -> None:
    runner.check(case)


def test_every_case_has_one_expected_answer() -> None:
    expected = {
        p.relative_to(EXPECTED).with_suffix("") for p in EXPECTED.rglob("*.json")
    }
    assert sorted(map(str, expected)) == sorted(c.name for c in CASES)


def test_every_area_is_known() -> None:
    assert {c.area for c in CASES} == areas.AREAS | areas.AREAS_TO_COME.keys()
    assert not areas.AREAS & areas.AREAS_TO_COME.keys()
