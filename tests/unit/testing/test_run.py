"""Functions in several processes: what comes back, and what becomes of failures."""

from __future__ import annotations

import functools
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fresh_process import run_python
from processes import wait_until, wait_until_gone
from replax.testing import ProcessesError, current_process, run_processes

pytest_plugins = ["pytester"]


class OddError(Exception):
    """An exception that no other process can import."""


def rank_and_arguments(*args: Any) -> Any:
    return current_process().rank, args


def test_values_and_outputs_come_by_rank() -> None:
    def speak(word: str) -> tuple[int, str]:
        print(f"{word} on standard output")
        print("and on standard error", file=sys.stderr)
        return current_process().rank, word

    result = run_processes(3, speak, "here")
    assert result.values == [(0, "here"), (1, "here"), (2, "here")]
    assert result.outputs == ["here on standard output\nand on standard error\n"] * 3


@pytest.mark.parametrize("form", ["function", "partial", "lambda"])
def test_functions_of_a_test_module_and_closures_can_be_sent(form: str) -> None:
    function = {
        "function": rank_and_arguments,
        "partial": functools.partial(rank_and_arguments, 3),
        "lambda": lambda *args: (current_process().rank, (*args, form)),
    }[form]
    ((rank, (*_, last)),) = run_processes(1, function, 4).values
    assert rank == 0
    assert last == (form if form == "lambda" else 4)


def test_arrays_are_sent_and_returned() -> None:
    total = run_processes(2, lambda x: x.sum(axis=0), np.ones((3, 2))).values
    np.testing.assert_array_equal(total, [[3, 3], [3, 3]])


def test_processes_are_new_pythons_with_their_devices_and_variables() -> None:
    def look() -> Any:
        jax_is_there = "jax" in sys.modules
        import jax

        return jax_is_there, jax.device_count(), os.environ["COLOUR"], os.getppid()

    (found,) = run_processes(1, look, devices=3, env={"COLOUR": "green"}).values
    assert found == (False, 3, "green", os.getpid())


def test_a_variable_can_be_removed() -> None:
    env = {"TF_CONFIG": None}
    assert run_processes(1, lambda: "TF_CONFIG" in os.environ, env=env).values == [
        False
    ]


def test_tf_config_names_tasks() -> None:
    def task() -> Any:
        import json

        config = json.loads(os.environ["TF_CONFIG"])
        shape = {name: len(of) for name, of in config["cluster"].items()}
        return shape, config["task"]["type"], config["task"]["index"]

    tasks = ["chief", "worker", "worker", "evaluator"]
    cluster = {"chief": 1, "worker": 2}
    assert run_processes(4, task, tasks=tasks).values == [
        (cluster, "chief", 0),
        (cluster, "worker", 0),
        (cluster, "worker", 1),
        (cluster, "evaluator", 0),
    ]


def test_processes_meet_through_jax() -> None:
    def join() -> Any:
        import jax
        from jax.experimental import multihost_utils

        process = current_process()
        jax.distributed.initialize(process.coordinator, process.size, process.rank)
        return multihost_utils.process_allgather(np.int32(process.rank)).tolist()

    assert run_processes(2, join, devices=2).values == [[0, 1], [0, 1]]


def test_the_first_failure_comes_first_and_is_the_cause() -> None:
    def fail() -> None:
        rank = current_process().rank
        print(f"rank {rank} was here")
        if rank == 0:
            time.sleep(0.5)
            raise ValueError("because of the other one")
        raise OddError("the reason")

    with pytest.raises(ProcessesError) as caught:
        run_processes(2, fail, grace=60)
    error = caught.value
    assert isinstance(error.__cause__, OddError)
    assert list(error.failures) == [1, 0]
    assert isinstance(error.failures[0].error, ValueError)
    assert "in fail" in error.failures[1].traceback
    text = str(error)
    assert text.startswith("rank 1 of 2 failed: OddError: the reason\nTraceback")
    assert text.index("the reason") < text.index("because of the other one")
    assert "--- what rank 1 printed\nrank 1 was here\n--- end" in text


def test_an_assertion_says_what_it_compared() -> None:
    def compare() -> None:
        assert current_process().size == 7

    with pytest.raises(ProcessesError, match="assert 1 == 7"):
        run_processes(1, compare)


def test_others_are_ended_also_if_they_ignore_sigterm(tmp_path: Path) -> None:
    def fail_or_ignore() -> None:
        if current_process().rank == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            # What it starts is to end too.
            sleeper = subprocess.Popen(["sleep", "1000"])
            (tmp_path / "new").write_text(f"{os.getpid()} {sleeper.pid}")
            (tmp_path / "new").rename(tmp_path / "pids")
            time.sleep(1000)
        while not (tmp_path / "pids").exists():
            time.sleep(0.01)
        raise ValueError("no more")

    began = time.monotonic()
    with pytest.raises(ProcessesError, match="rank 0 was ended because of that") as it:
        run_processes(2, fail_or_ignore, timeout=600)
    assert time.monotonic() - began < 300  # and not the 1000 it sleeps
    assert list(it.value.failures) == [1]
    assert it.value.stopped == (0,)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    wait_until_gone(pids)


def test_others_may_go_on_for_the_grace() -> None:
    def fail_or_return() -> str:
        if current_process().rank == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(2)
        return "went on"

    with pytest.raises(ProcessesError, match="was killed by SIGKILL before") as caught:
        run_processes(2, fail_or_return, grace=60)
    assert caught.value.values == {1: "went on"}
    assert caught.value.failures[0].exit_code == -signal.SIGKILL
    assert caught.value.failures[0].error is None


def test_those_that_take_too_long_print_their_stacks() -> None:
    def dawdle() -> None:
        if current_process().rank == 1:
            time.sleep(1000)

    with pytest.raises(ProcessesError, match=r"rank 1 of 2 .* after 3 s") as caught:
        run_processes(2, dawdle, timeout=3)
    assert "in dawdle" in caught.value.failures[1].output


def test_an_exit_is_a_failure_unless_its_code_is_zero() -> None:
    assert run_processes(1, lambda: sys.exit(0)).values == [None]
    with pytest.raises(ProcessesError, match="SystemExit: 3"):
        run_processes(1, lambda: sys.exit(3))

    def fail_later() -> None:
        import atexit

        atexit.register(os._exit, 5)

    with pytest.raises(
        ProcessesError, match=r"returned, but .* ended with exit code 5"
    ):
        run_processes(1, fail_later)


def test_what_cannot_be_sent_or_returned_is_named() -> None:
    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"<lambda> cannot be pickled .*lock.* make in"):
        run_processes(1, lambda: lock)
    with pytest.raises(ProcessesError, match="the function returned cannot be pickled"):
        run_processes(1, threading.Lock)


def test_the_error_survives_another_border() -> None:
    with pytest.raises(ProcessesError) as caught:
        run_processes(1, lambda: 1 // 0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert isinstance(again.failures[0].error, ZeroDivisionError)


def test_ports_that_were_taken_meanwhile_are_chosen_again(tmp_path: Path) -> None:
    def listen() -> int:
        address = current_process().coordinator
        with (tmp_path / f"rank-{current_process().rank}").open("a") as file:
            file.write(f"{address}\n")
        if current_process().rank == 0:
            _, port = address.split(":")
            # JAX finds somebody at its port the first time.
            taken = (tmp_path / "rank-0").read_text().count("\n") == 1
            with socket.socket() as other:
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if taken:
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                    other.bind(("127.0.0.1", int(port)))
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 0)
                    other.listen()
                import jax

                jax.distributed.initialize(address, 1, 0)
        return int(address.rpartition(":")[2])

    values = run_processes(2, listen, grace=60).values
    first, second = (tmp_path / "rank-0").read_text().split()
    assert first != second
    assert values == [int(second.rpartition(":")[2])] * 2


def test_a_server_that_does_not_share_its_port_can_listen() -> None:
    def listen() -> bool:
        host, _, port = (
            current_process().addresses[current_process().rank].partition(":")
        )
        with socket.create_server((host, int(port))):
            return True

    assert run_processes(2, listen).values == [True, True]


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(
        """
import os, pathlib, signal, subprocess, sys, threading, time
from replax.testing import current_process, run_processes

folder = pathlib.Path(sys.argv[1])

def stay():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sleeper = subprocess.Popen(["sleep", "1000"])
    new = folder / f"new-{current_process().rank}"
    new.write_text(f"{os.getpid()} {sleeper.pid}")
    new.rename(folder / f"pids-{current_process().rank}")
    time.sleep(1000)

run_processes(2, stay)
"""
    )
    parent = subprocess.Popen([sys.executable, str(program), str(tmp_path)])
    try:
        wait_until(lambda: len(list(tmp_path.glob("pids-*"))) == 2, "both are there")
    finally:
        parent.kill()
        parent.wait()
    pids = [int(p) for f in tmp_path.glob("pids-*") for p in f.read_text().split()]
    assert len(pids) == 4
    wait_until_gone(pids)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"n": 0}, "n=0, and needs at least one"),
        ({"devices": 0}, "devices=0, and a process has at least one.*write None"),
        ({"tasks": ["chief"]}, r"1 tasks \(chief\) for 2 processes; name one for each"),
    ],
)
def test_arguments_are_checked(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        run_processes(options.pop("n", 2), lambda: None, **options)


def test_this_is_none_of_the_processes() -> None:
    with pytest.raises(RuntimeError, match="not started by run_processes; call"):
        current_process()


def test_the_module_does_without_pytest() -> None:
    run_python("-c", "import sys, replax.testing; assert 'pytest' not in sys.modules")


def test_the_fixture_shows_what_each_process_printed(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("pytest_plugins = ['replax.testing.fixtures']")
    pytester.makepyfile(
        """
        from replax.testing import current_process

        def test_it(run_processes):
            def speak():
                print(f"I am {current_process().rank}")
                return 3
            assert run_processes(2, speak).values == [3, 4]

        def test_failure(run_processes):
            run_processes(1, lambda: print("about to fail") or 1 / 0)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*assert *3, 3* == *3, 4*",
            "*rank 0 call*",
            "I am 0",
            "*rank 1 call*",
            "I am 1",
        ]
    )
    result.stdout.fnmatch_lines(
        ["*rank 0 of 1 failed: ZeroDivisionError*", "*rank 0 call*", "about to fail"]
    )
