"""What follows from where processes were seen."""

from __future__ import annotations

import pytest

from replax._src.cluster.sightings import (
    Departure,
    Sighting,
    described,
    halted_for,
    laggards,
)


def sighting(
    rank: int,
    seconds: float,
    *,
    phase: str = "step",
    step: int = 4,
    collectives: int = 9,
) -> Sighting:
    return Sighting(rank, 1, phase, step, collectives, seconds)


def test_the_last_that_has_moved_counts() -> None:
    assert halted_for([sighting(0, 30.0), sighting(1, 2.0)]) == 2.0


def test_busy_processes_that_have_done_the_same_are_no_halt() -> None:
    busy = [sighting(rank, 30.0, phase="program") for rank in range(3)]
    assert halted_for(busy) == 0.0
    behind = sighting(3, 40.0, phase="program", collectives=8)
    assert halted_for([*busy, behind]) == 30.0


@pytest.mark.parametrize("phase", ["step", "input", "checkpoint", "evaluation"])
def test_all_at_the_same_may_halt_too(phase: str) -> None:
    assert halted_for([sighting(rank, 30.0, phase=phase) for rank in range(3)]) == 30.0


def test_those_who_have_done_least_are_waited_for() -> None:
    behind = sighting(1, 31.0, phase="input", step=3, collectives=8)
    ahead = sighting(0, 30.0, phase="program")
    assert laggards([ahead, behind]) == [1]
    assert laggards([ahead, sighting(1, 1.0)]) == []
    first, second = described([ahead, behind]).splitlines()
    assert first == (
        "  rank 1 at step 3, phase 'input', for 31.0 s  <- the others wait for it"
    )
    assert second == (
        "  rank 0 before step 4, phase 'program' (its own code, or waiting for a "
        "result), for 30.0 s"
    )


def test_of_a_large_group_those_are_described_for_whom_it_waits() -> None:
    behind = sighting(999, 31.0, phase="input", step=3, collectives=8)
    lines = described([*(sighting(r, 1.0) for r in range(999)), behind]).splitlines()
    assert len(lines) == 33
    assert lines[0].startswith("  rank 999 at step 3")
    assert lines[-1] == "  and 968 more"


def test_they_are_read_as_they_were_written() -> None:
    seen = sighting(2, 1.5)
    assert Sighting.read(2, seen.written()) == seen
    assert seen.later(2).seconds == 3.5
    gone = Departure(2, 3, 8, "has ended after KeyError: 'x'", failed=False)
    assert Departure.read(2, gone.written()) == gone
    assert str(gone) == "rank 2 has ended after KeyError: 'x', before step 3"
