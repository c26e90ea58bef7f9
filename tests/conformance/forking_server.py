"""A process that has imported the library once and forks for every case.

Importing takes longer than most cases, and a case wants a process of its own: it sets
up logical devices, and may switch strategies or crash. The server works one case at a
time; it reads a path and writes a report, a line of JSON each, until its input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from conformance import worker
from conformance.case_file import Case, read_case

# How long peers of a worker that died may take to notice it themselves.
GRACE = 20
LONGEST_LOG = 3000


def main() -> None:
    """Serves until standard input ends."""
    library = sys.argv[1]
    # Whatever the library prints must not get between the reports.
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    worker.facade(library, "v2")
    if library != "tensorflow" and threading.active_count() > 1:
        sys.exit(f"importing {library} started threads: {threading.enumerate()}")
    for line in sys.stdin:
        report = run_case(library, read_case(Path(line.strip())))
        print(json.dumps(report), file=reports, flush=True)


def run_case(library: str, case: Case) -> dict[str, Any]:
    """Runs every worker of a case; its value, or the problem and what was printed."""
    with tempfile.TemporaryDirectory(prefix="conformance_") as folder:
        answers = worker.Answers(Path(folder), case.workers)
        processes: list[int] = []
        try:
            for rank, environment in enumerate(_environments(case.workers)):
                processes.append(_fork(library, case, rank, environment, answers))
            late = _wait(case, processes, answers)
        finally:
            _end(processes)
        return _report(case, answers, late=late)


def _environments(workers: int) -> list[dict[str, str]]:
    if workers == 1:
        return [{}]
    addresses = [f"127.0.0.1:{port}" for port in _free_ports(workers)]
    return [
        {
            "TF_CONFIG": json.dumps(
                {
                    "cluster": {"worker": addresses},
                    "task": {"type": "worker", "index": rank},
                }
            )
        }
        for rank in range(workers)
    ]


def _free_ports(count: int) -> list[int]:
    """Free ports below those that the system hands out, so that they stay free."""
    ports: set[int] = set()
    dice = random.SystemRandom()
    while len(ports) < count:
        port = dice.randrange(20000, 30000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            ports.add(port)
    return sorted(ports)


def _fork(
    library: str,
    case: Case,
    rank: int,
    environment: dict[str, str],
    answers: worker.Answers,
) -> int:
    scratch = answers.folder / f"worker{rank}"
    scratch.mkdir()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        # Should the server be gone, nothing outlives it for long.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.alarm(int(case.timeout) + 30)
        log = os.open(answers.log_path(rank), os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(scratch)
        os.environ.update(environment)
        worker.run(library, case, rank, answers)
    finally:
        os._exit(0)


def _wait(case: Case, processes: list[int], answers: worker.Answers) -> bool:
    """Waits until all have answered, none is left or time is up; whether it was up."""
    started = time.monotonic()
    while not answers.complete():
        _reap(processes)
        waited = time.monotonic() - started
        if waited > case.timeout:
            return True
        if not processes:
            return False
        missing = sum(not answers.path(rank).exists() for rank in range(case.workers))
        if missing > len(processes) and waited > GRACE:
            return False
        time.sleep(0.01)
    leave = time.monotonic() + 1.0
    while processes and time.monotonic() < leave:
        _reap(processes)
        time.sleep(0.005)
    return False


def _reap(processes: list[int]) -> None:
    processes[:] = [pid for pid in processes if os.waitpid(pid, os.WNOHANG)[0] == 0]


def _end(processes: list[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _report(case: Case, answers: worker.Answers, *, late: bool) -> dict[str, Any]:
    values: list[Any] = []
    problems: list[str] = []
    for rank in range(case.workers):
        path = answers.path(rank)
        answer = json.loads(path.read_text()) if path.exists() else {}
        values.append(answer.get("value"))
        if "crash" in answer:
            problems.append(f"worker {rank} crashed with {answer['crash']}")
        elif not answer:
            why = f"gave no answer in {case.timeout} s" if late else "died"
            problems.append(f"worker {rank} {why}")
    if not problems:
        return {"value": values if case.workers > 1 else values[0]}
    logs = [answers.log_path(rank) for rank in range(case.workers)]
    printed = [p.read_text(errors="replace")[-LONGEST_LOG:] for p in logs if p.exists()]
    return {"problem": "; ".join(problems), "log": "\n".join(printed)}


if __name__ == "__main__":
    main()
