"""Measures peers side by side, each in a process of its own.

The peers run in turns, a block of steps at a time, so that whatever else the machine is
doing slows all of them alike; a peer's figure is the median of its blocks. Who is not
in turn is stopped: what reads ahead would else work in the others' time.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import itertools
import multiprocessing
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from typing import Any

# Makes the step that is measured; called in the process of the peer.
Prepare = Callable[[], Callable[[], object]]

_processes = multiprocessing.get_context("spawn")


def seconds_a_step(
    peers: Mapping[str, Prepare],
    *,
    blocks: int = 24,
    block_seconds: float = 0.15,
    warm_steps: int = 10,
    least_steps: int = 5,
) -> dict[str, float]:
    """The median time of a step of each peer.

    Args:
      peers: For each peer, what makes its step.
      blocks: How many blocks each peer runs.
      block_seconds: About how long a block is.
      warm_steps: How many steps each peer takes twice before it is measured.
      least_steps: How many steps a block has at least.
    """
    with contextlib.ExitStack() as stack:
        workers = {
            name: stack.enter_context(_worker(prepare))
            for name, prepare in peers.items()
        }
        counts: dict[str, int] = {}
        for name, worker in workers.items():
            seconds = worker.block(warm_steps)  # the first block compiles
            seconds = worker.block(warm_steps)
            counts[name] = max(least_steps, int(block_seconds / seconds))
        times: dict[str, list[float]] = {name: [] for name in peers}
        # Forwards and backwards, so that nobody always runs after the same peer.
        orders = itertools.cycle([list(workers), list(workers)[::-1]])
        for _, order in zip(range(blocks), orders, strict=False):
            for name in order:
                times[name].append(workers[name].block(counts[name]))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def in_a_process(function: Callable[..., Any], *args: Any) -> Any:
    """What a function returns when it is called in a fresh process."""
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=_processes) as pool:
        return pool.submit(function, *args).result()


@contextlib.contextmanager
def _worker(prepare: Prepare) -> Iterator[_Worker]:
    ours, theirs = _processes.Pipe()
    process = _processes.Process(target=_serve, args=(prepare, theirs), daemon=True)
    process.start()
    theirs.close()
    assert process.pid is not None
    try:
        yield _Worker(process.pid, ours)
    finally:
        os.kill(process.pid, signal.SIGCONT)
        ours.close()
        process.join()


@dataclasses.dataclass(frozen=True)
class _Worker:
    """A peer's process, and the connection to it."""

    pid: int
    connection: Connection

    def block(self, steps: int) -> float:
        """How long a step takes, on average over so many."""
        os.kill(self.pid, signal.SIGCONT)
        self.connection.send(steps)
        seconds = self.connection.recv()
        os.kill(self.pid, signal.SIGSTOP)
        return seconds


def _serve(prepare: Prepare, connection: Connection) -> None:
    """Runs blocks of the size that is asked for, until nobody asks any more."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    step = prepare()
    with contextlib.suppress(EOFError):
        while True:
            steps = connection.recv()
            start = time.perf_counter()
            for _ in range(steps):
                step()
            connection.send((time.perf_counter() - start) / steps)
