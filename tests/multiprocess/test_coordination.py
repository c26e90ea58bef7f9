"""What processes say to each other through the coordination service."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from replax._src.cluster.coordination import Coordination
from replax._src.core.errors import DeadlineExceededError, UnavailableError
from replax.testing import ProcessesError, current_process, run_processes


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


def test_who_never_starts_is_named() -> None:
    """JAX ends those that wait; what it and what Replax says is all there is."""

    def join_unless_1() -> None:
        from replax._src.cluster.bootstrap import join
        from replax._src.cluster.group import Group
        from replax.distribute.cluster_resolver import TFConfigClusterResolver

        if current_process().rank != 1:
            join(Group.of_resolver(TFConfigClusterResolver()), timeout=4)

    with pytest.raises(ProcessesError) as caught:
        run_processes(3, join_unless_1, grace=60)
    assert sorted(caught.value.failures) == [0, 2]
    for rank, failure in caught.value.failures.items():
        text = failure.output
        assert (
            f"process {rank} of 3 (worker {rank}) has waited 2 s at 127.0.0.1" in text
        )
        assert "see that all are started, or run replax doctor on each" in text
        assert "timed out task names:\n1\n" in text


def test_a_port_that_somebody_has_is_said() -> None:
    def join() -> str:
        from replax._src.cluster.bootstrap import join
        from replax._src.cluster.group import Group

        with socket.create_server(("localhost", 0)) as server:
            port = server.getsockname()[1]
            with pytest.raises(UnavailableError) as caught:
                join(Group(f"localhost:{port}", 2, 0, "worker", 0), timeout=4)
        return str(caught.value).replace(str(port), "PORT")

    (said,) = run_processes(1, join).values
    assert "process 0 of 2 (worker 0) could not join at localhost:PORT" in said
    assert "it cannot listen at port PORT" in said
    assert "end it, or give process 0 another port" in said
