"""Functions run in processes, and the futures say what became of them."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import replax
from fresh_process import run_python
from processes import wait_until, wait_until_gone
from replax._src.dataset.workers.pool import ProcessPool

SECONDS = 60


def got(future: concurrent.futures.Future[Any]) -> Any:
    return future.result(SECONDS)


def square(x: int) -> int:
    return x * x


class OwnError(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


@pytest.fixture(autouse=True)
def no_process_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    started: list[int] = []
    submit = ProcessPool.submit

    def noting(pool: ProcessPool, which: int, argument: Any) -> Any:
        future = submit(pool, which, argument)
        started.extend(pool.pids)
        return future

    monkeypatch.setattr(ProcessPool, "submit", noting)
    yield
    wait_until_gone(set(started))


def test_results_belong_to_their_tasks() -> None:
    def later(x: int) -> int:
        time.sleep(random.random() / 100)
        return x * 10

    with ProcessPool([later, lambda x: -x], 3) as pool:
        futures = [pool.submit(i % 2, i) for i in range(200)]
        expected = [-i if i % 2 else i * 10 for i in range(200)]
        assert [got(f) for f in futures] == expected


def test_functions_of_a_module_and_bound_arguments_work() -> None:
    with ProcessPool([square, functools.partial(pow, 2), str.upper], 1) as pool:
        assert got(pool.submit(0, 7)) == 49
        assert got(pool.submit(1, 10)) == 1024
        assert got(pool.submit(2, "a")) == "A"


def test_work_is_spread_over_processes_and_not_over_more_than_there_may_be() -> None:
    def pid(_: Any) -> int:
        time.sleep(0.05)
        return os.getpid()

    with ProcessPool([pid], 2) as pool:
        pids = {got(f) for f in [pool.submit(0, i) for i in range(20)]}
        assert pids == set(pool.pids)
        assert len(pids) == 2
        assert os.getpid() not in pids


def test_nothing_is_started_before_there_is_work() -> None:
    threads = threading.active_count()
    with ProcessPool([square], 4) as pool:
        assert pool.pids == []
        assert threading.active_count() == threads
        assert repr(pool) == "ProcessPool([square], count=4)  # 0 running"
        assert got(pool.submit(0, 3)) == 9
        # One is enough for one task.
        assert len(pool.pids) == 1
        assert len(pool) == 4
    assert repr(pool) == "ProcessPool([square], count=4)  # closed"


def test_large_arrays_go_both_ways_at_once() -> None:
    size = 50_000_000

    def add_one(x: Any) -> Any:
        return x + 1

    with ProcessPool([add_one], 2) as pool:
        arrays = [np.full(size, i, np.uint8) for i in range(6)]
        futures = [pool.submit(0, array) for array in arrays]
        for i, future in enumerate(futures):
            result = got(future)
            assert result.shape == (size,)
            assert (result == i + 1).all()
            result[0] = 0  # it is the caller's


def test_an_exception_is_the_same_and_says_where_it_was_raised() -> None:
    def decode(x: Any) -> Any:
        return {"a": 1}[x]  # the line in question

    with ProcessPool([decode], 1) as pool:
        assert got(pool.submit(0, "a")) == 1
        with pytest.raises(KeyError, match="missing") as caught:
            got(pool.submit(0, "missing"))
        (note,) = caught.value.__notes__
        assert f"worker process {pool.pids[0]}, at task 1 (function " in note
        assert "decode" in note
        assert "# the line in question" in note
        assert Path(__file__).name in note
        # And none of ours.
        assert "child.py" not in note
        assert got(pool.submit(0, "a")) == 1


def test_an_exception_keeps_its_notes_and_tells_its_cause() -> None:
    def fail(_: Any) -> Any:
        try:
            return 1 // 0
        except ZeroDivisionError as error:
            failure = ValueError("bad")
            failure.add_note("of the user")
            raise failure from error

    with ProcessPool([fail], 1) as pool:
        with pytest.raises(ValueError, match="bad") as caught:
            got(pool.submit(0, None))
        assert caught.value.__notes__[0] == "of the user"
        assert "ZeroDivisionError" in caught.value.__notes__[1]


@pytest.mark.parametrize("kind", ["own", "lock", "exit", "text"])
def test_an_exception_that_cannot_be_made_again_is_told(kind: str) -> None:
    class TextlessError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

        def __reduce__(self) -> Any:
            raise RuntimeError

    def fail(_: Any) -> Any:
        if kind == "own":
            raise OwnError("this", "that")
        if kind == "lock":
            raise ValueError(threading.Lock())
        if kind == "text":
            raise TextlessError
        raise SystemExit(0)

    text = {
        "own": "OwnError: this and that",
        "lock": "ValueError: <unlocked _thread.lock",
        "exit": "SystemExit: 0",
        "text": "TextlessError: <no text",
    }
    with ProcessPool([fail], 1) as pool:
        with pytest.raises(RuntimeError, match="task 0") as caught:
            got(pool.submit(0, None))
        assert text[kind] in str(caught.value)
        assert "in fail" in caught.value.__notes__[0]
        # The process goes on.
        assert len(pool.pids) == 1


def test_a_killed_worker_fails_the_task_it_ran_and_no_other(tmp_path: Path) -> None:
    def run(x: int) -> int:
        with (tmp_path / str(x)).open("a") as file:
            file.write("run\n")
        if x == 0:
            time.sleep(1000)
        return x

    with ProcessPool([run], 2) as pool:
        hanging = pool.submit(0, 0)
        wait_until((tmp_path / "0").exists, "the first task runs")
        (victim,) = pool.pids
        others = [pool.submit(0, x) for x in range(1, 10)]
        # Those that are with the other worker, and go on there.
        wait_until(others[-1].done, "the other worker has done all it can")
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(replax.errors.AbortedError) as caught:
            got(hanging)
        message = str(caught.value)
        assert f"worker process {victim} was killed by SIGKILL" in message
        assert "task 0" in message
        assert "run)" in message
        assert [got(f) for f in others] == list(range(1, 10))
        for x in range(10):
            assert (tmp_path / str(x)).read_text() == "run\n"


def test_a_worker_that_leaves_tells_its_exit_code_and_is_replaced() -> None:
    def leave(x: Any) -> Any:
        if x:
            os._exit(x)
        return os.getpid()

    with ProcessPool([leave], 1) as pool:
        first = got(pool.submit(0, 0))
        futures = [pool.submit(0, x) for x in (7, 0, 8, 0)]
        with pytest.raises(replax.errors.AbortedError, match=r"exit code 7.*task 1 "):
            got(futures[0])
        with pytest.raises(replax.errors.AbortedError, match=r"exit code 8.*task 3 "):
            got(futures[2])
        assert len({first, got(futures[1]), got(futures[3])}) == 3


def test_a_worker_that_dies_without_work_is_replaced() -> None:
    with ProcessPool([square], 1) as pool:
        assert got(pool.submit(0, 2)) == 4
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: pool.pids == [], "the pool has seen it")
        assert got(pool.submit(0, 3)) == 9


def test_a_function_that_closes_all_descriptors_does_not_hang() -> None:
    def close(_: Any) -> None:
        os.closerange(0, 1000)

    with (
        ProcessPool([close], 1) as pool,
        pytest.raises(replax.errors.AbortedError, match="task 0"),
    ):
        got(pool.submit(0, None))


def test_a_process_that_a_function_leaves_behind_hides_no_death() -> None:
    def fork_and_die(_: Any) -> None:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        os._exit(3)

    with (
        ProcessPool([fork_and_die], 1) as pool,
        pytest.raises(replax.errors.AbortedError, match=r"exit code 3"),
    ):
        got(pool.submit(0, None))


def test_an_argument_that_cannot_be_pickled_is_named() -> None:
    with ProcessPool([square, lambda x: None], 1) as pool:
        with pytest.raises(
            TypeError, match=r"argument of task 0 \(function square\).*list.*threads"
        ):
            got(pool.submit(0, [threading.Lock()]))
        assert got(pool.submit(0, 2)) == 4


def test_a_result_that_cannot_be_pickled_is_named() -> None:
    def lock(_: Any) -> Any:
        return threading.Lock()

    with (
        ProcessPool([lock], 1) as pool,
        pytest.raises(TypeError, match=r"result of task 0 .*lock.* pickle.*threads"),
    ):
        got(pool.submit(0, None))


def test_a_function_that_cannot_be_pickled_is_named() -> None:
    lock = threading.Lock()

    def locked(x: Any) -> Any:
        with lock:
            return x

    with pytest.raises(TypeError, match=r"locked cannot be pickled.*threads"):
        ProcessPool([square, locked], 1)


class _Unreadable:
    def __init__(self) -> None:
        self.here = os.getpid()

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        if self.here != os.getpid():
            raise ImportError("not here")

    def __call__(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize("what", ["argument", "function", "result"])
def test_what_cannot_be_rebuilt_on_the_other_side_is_named(what: str) -> None:
    function = _Unreadable() if what == "function" else lambda x: x
    if what == "result":
        function = lambda _: _Unreadable()  # noqa: E731
    argument = _Unreadable() if what == "argument" else 1
    with ProcessPool([function], 1) as pool:
        for number in range(2):
            with pytest.raises(TypeError, match=rf"{what}.*ImportError: not here") as e:
                got(pool.submit(0, argument))
            assert f"task {number}" in str(e.value)


def test_arrays_of_jax_come_as_arrays_of_numpy() -> None:
    offset = jnp.arange(3)
    with ProcessPool([lambda x: (type(x).__name__, x + offset)], 1) as pool:
        name, result = got(pool.submit(0, jnp.ones(3, int)))
    assert name == "ndarray"
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [1, 2, 3]


def test_a_worker_imports_no_jax_and_opens_no_backend() -> None:
    def loaded(_: Any) -> Any:
        return {"jax", "numpy", "replax"} & sys.modules.keys()

    def initialized(_: Any) -> Any:
        from replax._src.core import jax_compat

        return "jax" in sys.modules, jax_compat.backends_are_initialized()

    with ProcessPool([loaded, initialized], 1) as pool:
        assert got(pool.submit(0, None)) == set()
        assert got(pool.submit(1, None)) == (True, False)


def test_a_worker_can_import_replax_after_all() -> None:
    def size(_: Any) -> Any:
        import replax
        from replax._src.dataset.workers import wire

        return replax.TensorSpec((2,)).shape.rank, wire.RESULT

    with ProcessPool([size], 1) as pool:
        assert got(pool.submit(0, None)) == (1, 0)


def test_a_worker_has_the_folder_and_the_path_of_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module_of_the_user.py").write_text("def shout(x): return x + '!'")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    import module_of_the_user  # type: ignore[import-not-found]

    with ProcessPool([module_of_the_user.shout, lambda _: Path.cwd()], 1) as pool:
        assert got(pool.submit(0, "a")) == "a!"
        assert got(pool.submit(1, None)) == tmp_path


def test_a_worker_does_not_read_the_input_of_the_parent() -> None:
    with ProcessPool([lambda _: sys.stdin.read()], 1) as pool:
        assert got(pool.submit(0, None)) == ""


def test_a_future_can_be_cancelled_until_it_is_sent(tmp_path: Path) -> None:
    go = tmp_path / "go"

    def wait(x: Any) -> Any:
        while not go.exists():
            time.sleep(0.01)
        return x

    with ProcessPool([wait], 1) as pool:
        futures = [pool.submit(0, x) for x in range(5)]
        assert not futures[0].cancel()
        assert futures[3].cancel()
        go.touch()
        assert [got(futures[x]) for x in (0, 1, 2, 4)] == [0, 1, 2, 4]
        with pytest.raises(concurrent.futures.CancelledError):
            got(futures[3])


def test_a_callback_may_submit_and_close() -> None:
    results: list[Any] = []
    done = threading.Event()
    pool = ProcessPool([square], 1)

    def second(future: concurrent.futures.Future[Any]) -> None:
        results.append(future.result())
        pool.close()
        done.set()

    def first(future: concurrent.futures.Future[Any]) -> None:
        results.append(future.result())
        pool.submit(0, 3).add_done_callback(second)

    pool.submit(0, 2).add_done_callback(first)
    assert done.wait(SECONDS)
    assert results == [4, 9]
    pool.close()


def test_many_threads_may_submit() -> None:
    with (
        ProcessPool([square], 2) as pool,
        concurrent.futures.ThreadPoolExecutor(8) as threads,
    ):
        results = threads.map(lambda x: got(pool.submit(0, x)), range(200))
        assert list(results) == [x * x for x in range(200)]


def test_closing_gives_up_what_runs_and_what_waits(tmp_path: Path) -> None:
    def hang(_: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        (tmp_path / "here").touch()
        time.sleep(1000)

    pool = ProcessPool([hang], 1)
    futures = [pool.submit(0, x) for x in range(4)]
    wait_until((tmp_path / "here").exists, "the first task runs")
    pids = pool.pids
    pool.close()
    wait_until_gone(pids)
    for number, future in enumerate(futures):
        with pytest.raises(
            replax.errors.AbortedError, match=f"task {number} .*has been closed"
        ):
            got(future)
    pool.close()
    with pytest.raises(RuntimeError, match="pool of worker processes that is closed"):
        pool.submit(0, 1)


def test_closing_lets_short_tasks_end() -> None:
    pool = ProcessPool([square], 1)
    future = pool.submit(0, 3)
    wait_until(future.done, "it is done")
    late = pool.submit(0, 4)
    pool.close()
    assert got(late) == 16


def test_a_pool_needs_a_process() -> None:
    with pytest.raises(ValueError, match=r"count=0.*at least one"):
        ProcessPool([square], 0)


def test_windows_is_told_to_use_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(NotImplementedError, match="use threads"):
        ProcessPool([square], 1)


def test_a_python_without_a_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with (
        ProcessPool([square], 1) as pool,
        pytest.raises(replax.errors.AbortedError, match=r"sys\.executable is empty"),
    ):
        got(pool.submit(0, 1))


def test_functions_of_the_main_program_of_a_process_of_multiprocessing(
    tmp_path: Path,
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing\n"
        "from replax._src.dataset.workers.pool import ProcessPool\n"
        "def more(x):\n"
        "    return x + 1\n"
        "def ask(answers):\n"
        "    with ProcessPool([more], 1) as pool:\n"
        "        answers.put(pool.submit(0, 41).result(60))\n"
        "if __name__ == '__main__':\n"
        "    spawn = multiprocessing.get_context('spawn')\n"
        "    answers = spawn.Queue()\n"
        "    process = spawn.Process(target=ask, args=(answers,))\n"
        "    process.start()\n"
        "    print(answers.get(timeout=60))\n"
        "    process.join(60)\n"
    )
    assert run_python(str(program)).split() == ["42"]
