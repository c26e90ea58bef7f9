"""No worker outlives its pool or its parent, whatever ends them."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from fresh_process import ROOT, run_python
from processes import is_running, wait_until, wait_until_gone
from replax._src.dataset.workers.pool import ProcessPool

SECONDS = 60

# There is no guard: what starts the main program again would start it for ever.
BEGINNING = """
import os, re, signal, sys, time
from replax._src.dataset.workers.pool import ProcessPool

class Point:
    def __init__(self, x):
        self.x = x

def twice(point):
    return Point(2 * point.x)

def pid(seconds):
    time.sleep(seconds)
    return os.getpid()

def report(pids):
    print(*pids, flush=True)

pool = ProcessPool([twice, pid], 2)
"""

TWO_WORKERS = "[f.result(60) for f in [pool.submit(1, 0.2) for _ in range(8)]]\n"


@contextlib.contextmanager
def program(text: str) -> Iterator[subprocess.Popen[str]]:
    """A program in a session of its own, as a terminal would start one."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGINNING + text],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def reported(stream: IO[str] | None) -> list[int]:
    """The pids that a program prints."""
    assert stream is not None
    line = stream.readline()
    assert line, "the program has ended"
    return [int(word) for word in line.split()]


@pytest.mark.parametrize("how", ["script", "-c", "stdin"])
def test_a_program_needs_no_guard(how: str, tmp_path: Path) -> None:
    text = BEGINNING + (
        "point = pool.submit(0, Point(21)).result(60)\n"
        "assert type(point) is Point\n"
        "print(point.x)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(text)
    arguments = {"script": [str(script)], "-c": ["-c", text], "stdin": ["-"]}
    done = subprocess.run(
        [sys.executable, *arguments[how]],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        input=text if how == "stdin" else "",
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


@pytest.mark.parametrize("busy", ["idle", "sleeping", "computing", "holding"])
def test_workers_end_when_the_parent_is_killed(busy: str) -> None:
    work = {
        "idle": "",
        "sleeping": "pool.submit(1, 1000), pool.submit(1, 1000)\n",
        "computing": (
            "def endless(_):\n"
            "    while True: pass\n"
            "other = ProcessPool([endless], 2)\n"
            "other.submit(0, 0), other.submit(0, 0)\n"
        ),
        # It backtracks for years, and holds on to the interpreter.
        "holding": (
            "def endless(_):\n"
            "    re.match('(a+)+b', 'a' * 60)\n"
            "other = ProcessPool([endless], 2)\n"
            "other.submit(0, 0), other.submit(0, 0)\n"
        ),
    }
    if busy == "holding" and sys.platform != "linux":
        pytest.skip(
            "nothing but Linux ends a process whose native code does not return"
        )
    text = (
        TWO_WORKERS
        + work[busy]
        + (
            "time.sleep(0.5)  # they have begun\n"
            "report(pool.pids + (other.pids if 'other' in dir() else []))\n"
            "time.sleep(1000)\n"
        )
    )
    with program(text) as parent:
        pids = reported(parent.stdout)
        assert len(pids) == (4 if busy in {"computing", "holding"} else 2)
        assert all(map(is_running, pids))
        parent.kill()
        parent.wait(SECONDS)
        wait_until_gone(pids)


def test_workers_end_when_a_parent_is_killed_that_has_forked() -> None:
    """What the forked process inherits would keep the connections open."""
    text = TWO_WORKERS + (
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        pool.submit(1, 0)\n"
        "    except RuntimeError:\n"
        "        time.sleep(1000)\n"
        "    os._exit(1)\n"
        "report([child, *pool.pids])\n"
        "time.sleep(1000)\n"
    )
    with program(text) as parent:
        child, *pids = reported(parent.stdout)
        try:
            parent.kill()
            wait_until_gone(pids)
            assert is_running(child)
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_forked_process_leaves_the_workers_alone() -> None:
    text = TWO_WORKERS + (
        "before = pool.pids\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        "assert pool.submit(1, 0).result(60) in before\n"
        "report(before)\n"
    )
    with program(text) as parent:
        pids = reported(parent.stdout)
        assert parent.wait(SECONDS) == 0
        assert not any(map(is_running, pids))


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_ctrl_c_is_for_the_parent_and_leaves_nothing(busy: bool) -> None:
    text = TWO_WORKERS + (
        "report(pool.pids)\n"
        "try:\n"
        f"    {'pool.submit(1, 1000).result()' if busy else 'time.sleep(1000)'}\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
        "    raise\n"
    )
    with program(text) as parent:
        pids = reported(parent.stdout)
        time.sleep(0.2)  # it waits
        os.killpg(parent.pid, signal.SIGINT)
        output, errors = parent.communicate(timeout=SECONDS)
        assert output == "interrupted\n"
        # One traceback: no worker was interrupted.
        assert errors.count("KeyboardInterrupt") == 1
        assert not any(map(is_running, pids))


def test_ctrl_c_while_workers_start_does_not_reach_them() -> None:
    text = (
        "import subprocess\n"
        "start = subprocess.Popen\n"
        "def interrupted(*args, **kwargs):\n"
        "    process = start(*args, **kwargs)\n"
        "    os.kill(process.pid, signal.SIGINT)\n"
        "    return process\n"
        "subprocess.Popen = interrupted\n"
        "assert pool.submit(0, Point(4)).result(60).x == 8\n"
        "report(pool.pids)\n"
    )
    with program(text) as parent:
        pids = reported(parent.stdout)
        assert parent.communicate(timeout=SECONDS) == ("", "")
        assert not any(map(is_running, pids))


def test_the_end_of_the_program_ends_busy_workers() -> None:
    text = TWO_WORKERS + "report(pool.pids)\npool.submit(1, 1000)\n"
    with program(text) as parent:
        pids = reported(parent.stdout)
        assert parent.communicate(timeout=SECONDS) == ("", "")
        assert parent.returncode == 0
        assert not any(map(is_running, pids))


def test_an_error_of_the_program_ends_workers() -> None:
    with program(TWO_WORKERS + "report(pool.pids)\n1 / 0\n") as parent:
        pids = reported(parent.stdout)
        _, errors = parent.communicate(timeout=SECONDS)
        assert parent.returncode == 1
        assert "ZeroDivisionError" in errors
        assert not any(map(is_running, pids))


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_a_pool_that_is_collected_leaves_nothing(busy: bool) -> None:
    pool = ProcessPool([time.sleep], 2)
    futures = [pool.submit(0, 0.1) for _ in range(4)]
    for future in futures:
        future.result(SECONDS)
    pids = pool.pids
    assert len(pids) == 2
    if busy:
        pool.submit(0, 1000)
    del pool
    gc.collect()
    wait_until_gone(pids)
    threads = {"replax-worker", "replax-workers"}
    wait_until(lambda: not threads & _names_of_threads(), "its threads have ended")


def _names_of_threads() -> set[str]:
    return {t.name.rstrip("-0123456789") for t in threading.enumerate()}


def test_a_worker_is_not_bound_to_the_thread_that_started_it() -> None:
    with ProcessPool([abs], 1) as pool:
        thread = threading.Thread(target=lambda: pool.submit(0, -1).result(SECONDS))
        thread.start()
        thread.join(SECONDS)
        pids = pool.pids
        time.sleep(0.2)  # it could end now
        assert pool.submit(0, -2).result(SECONDS) == 2
        assert pool.pids == pids


def _shared() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir()}


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="there is no /dev/shm")
def test_nothing_has_a_name_that_could_stay() -> None:
    text = TWO_WORKERS + (
        "import numpy as np\n"
        "other = ProcessPool([lambda x: x + 1], 2)\n"
        "[f.result(60) for f in [other.submit(0, np.zeros(10**6)) for _ in range(9)]]\n"
        "maps = {p: open(f'/proc/{p}/maps').read() for p in [*other.pids, 'self']}\n"
        "assert not any('/dev/shm' in text for text in maps.values())\n"
        "report(other.pids)\n"
    )
    before = _shared()
    with program(text) as parent:
        pids = reported(parent.stdout)
        assert parent.communicate(timeout=SECONDS) == ("", "")
    new = _shared() - before
    # Other programs of the machine may be at work.
    assert not [name for name in new if any(str(pid) in name for pid in pids)]
    assert not [name for name in new if "replax" in name]


def test_importing_it_imports_neither_cloudpickle_nor_starts_anything() -> None:
    run_python(
        "-c",
        # JAX imports it if it is there.
        "import sys, threading; sys.modules['cloudpickle'] = None; import replax; "
        "import replax._src.dataset.workers.pool; "
        "assert 'multiprocessing' not in sys.modules; "
        "assert threading.active_count() == 1",
    )
