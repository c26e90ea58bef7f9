"""Threads of replicas are used again, and end when nobody needs them."""

from __future__ import annotations

import os
import threading
import time
import weakref

import pytest

from replax._src.execution import replica_threads
from replax._src.execution.replica_threads import run_in_thread
from replica_threads import require_no_replica_running


class Job:
    """Notes which thread it runs in, and waits there until it is let go."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.go = threading.Event()
        self.running = threading.Event()

    def run(self) -> None:
        self.thread = threading.current_thread()
        self.running.set()
        self.go.wait(60)


def finished(job: Job) -> threading.Thread:
    run_in_thread(job.run, "replica-1")
    assert job.running.wait(60)
    assert job.thread is not None
    assert job.thread.name == "replica-1"
    job.go.set()
    require_no_replica_running(60)
    return job.thread


def test_a_thread_is_used_again() -> None:
    threads = {finished(Job()) for _ in range(5)}
    assert len(threads) < 5


def test_jobs_run_at_the_same_time_in_threads_of_their_own() -> None:
    jobs = [Job() for _ in range(3)]
    for job in jobs:
        run_in_thread(job.run, "replica-1")
    assert all(job.running.wait(60) for job in jobs)
    assert len({job.thread for job in jobs}) == 3
    for job in jobs:
        job.go.set()
    require_no_replica_running(60)


def test_a_thread_keeps_nothing_of_its_job() -> None:
    job = Job()
    seen = weakref.ref(job)
    finished(job)
    del job
    assert seen() is None


def test_a_thread_without_work_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_threads, "_PATIENCE", 0.01)
    thread = finished(Job())
    thread.join(60)
    assert not thread.is_alive()
    assert finished(Job()) is not thread


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    finished(Job())
    child = os.fork()
    if not child:
        ran = threading.Event()
        run_in_thread(ran.set, "replica-1")
        os._exit(0 if ran.wait(60) else 1)
    end = time.monotonic() + 120
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
