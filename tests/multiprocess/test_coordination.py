"""What processes say to each other through the coordination service."""

from __future__ import annotations

import time
from typing import Any

import pytest

from replax._src.cluster.coordination import Coordination
from replax._src.core.errors import DeadlineExceededError, UnavailableError
from replax.testing import current_process, run_processes


def joined() -> Coordination:
    import jax

    process = current_process()
    jax.distributed.initialize(process.coordinator, process.size, process.rank)
    coordination = Coordination.of_process()
    assert coordination is not None
    return coordination


def test_a_process_by_itself_has_none() -> None:
    assert Coordination.of_process() is None


def test_texts_are_published_found_and_deleted() -> None:
    def talk() -> Any:
        group = joined()
        group.put(f"said/{group.rank}", f"by {group.rank}")
        other = group.get(f"said/{1 - group.rank}", 60, f"rank {1 - group.rank}")
        group.barrier("both have heard it", 60)
        group.put(f"said/{group.rank}", "anew", again=True)
        group.barrier("both have said it", 60)
        below = group.all_below("said")
        group.barrier("both have read it", 60)
        if group.rank == 0:
            group.delete("said")
        group.barrier("it is deleted", 60)
        return (
            (group.rank, group.size),
            other,
            below,
            group.all_below("said"),
            group.find("said/0"),
            group.find("never"),
        )

    anew = {"0": "anew", "1": "anew"}
    assert run_processes(2, talk).values == [
        ((0, 2), "by 1", anew, {}, None, None),
        ((1, 2), "by 0", anew, {}, None, None),
    ]


def test_what_is_published_already_is_not_replaced_by_accident() -> None:
    def twice() -> str:
        group = joined()
        group.put("key", "first")
        with pytest.raises(UnavailableError, match="publishing key: ALREADY_EXISTS"):
            group.put("key", "second")
        return group.get("key", 1, "nobody")

    assert run_processes(1, twice).values == ["first"]


def test_waits_that_are_in_vain_say_for_whom() -> None:
    def wait() -> Any:
        group = joined()
        said = ""
        if group.rank == 0:
            with pytest.raises(DeadlineExceededError) as caught:
                group.get("never", 0.5, "rank 1")
            said = f"{caught.value}; "
        if group.rank != 2:
            with pytest.raises(DeadlineExceededError) as caught:
                group.barrier("the end of the epoch", 2)
            said += str(caught.value)
        # All leave together, or JAX waits for those that do not.
        group.barrier("the end", 60)
        return said

    first, second, third = run_processes(3, wait).values
    assert "waited 0.5 s for rank 1 to publish never, in vain" in first
    for rank, said in enumerate([first, second]):
        assert (
            f"rank {rank} waited 2 s at barrier 'the end of the epoch', and rank 2 did "
            f"not come; look at what it is doing, or wait longer"
        ) in said
    assert third == ""


def test_a_barrier_waits_for_the_slowest() -> None:
    def meet() -> tuple[float, float]:
        group = joined()
        if group.rank == 1:
            time.sleep(1)
        came = time.monotonic()
        group.barrier("here", 60)
        return came, time.monotonic()

    values = run_processes(2, meet).values
    assert min(left for _, left in values) >= max(came for came, _ in values)
