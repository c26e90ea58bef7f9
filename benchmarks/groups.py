"""Measures peers side by side that are groups of processes.

As in `blocks`, the groups run in turns, a block of steps at a time, and a group's
figure is the median of its blocks. Who is not in turn waits to be asked; it is not
stopped, for its processes have to let each other know that they are there.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection

# Makes the step that is measured, in one process of a group: given its rank and the
# addresses of all.
Prepare = Callable[[int, Sequence[str]], Callable[[], object]]

_WARM_STEPS = 10
_SECONDS_TO_ANSWER = 300
_processes = multiprocessing.get_context("spawn")


def blocks_of_groups(
    peers: Mapping[str, Prepare],
    processes: int,
    *,
    blocks: int = 16,
    block_seconds: float = 0.3,
) -> dict[str, list[float]]:
    """The times of a step of each peer, in each of its blocks.

    Args:
      peers: For each peer, what makes its step.
      processes: How many processes each peer has.
      blocks: How many blocks each peer runs.
      block_seconds: About how long a block is.
    """
    with contextlib.ExitStack() as stack:
        groups = {
            name: stack.enter_context(_group(prepare, processes))
            for name, prepare in peers.items()
        }
        counts: dict[str, int] = {}
        for name, group in groups.items():
            seconds = _block(group, _WARM_STEPS)  # the first block compiles
            seconds = _block(group, _WARM_STEPS)
            counts[name] = max(5, int(block_seconds / seconds))
        times: dict[str, list[float]] = {name: [] for name in peers}
        # Forwards and backwards, so that nobody always runs after the same peer.
        orders = itertools.cycle([list(groups), list(groups)[::-1]])
        for _, order in zip(range(blocks), orders, strict=False):
            for name in order:
                times[name].append(_block(groups[name], counts[name]))
    return times


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of blocks that ran one after the other."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def free_addresses(count: int) -> list[str]:
    """Addresses on this machine at which nobody listens."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{probe.getsockname()[1]}" for probe in probes]


def tf_config(rank: int, addresses: Sequence[str]) -> str:
    """The cluster, as Replax and TensorFlow read it."""
    cluster = {"worker": list(addresses)}
    return json.dumps({"cluster": cluster, "task": {"type": "worker", "index": rank}})


@contextlib.contextmanager
def _group(prepare: Prepare, processes: int) -> Iterator[list[Connection]]:
    addresses = free_addresses(processes)
    pipes = [_processes.Pipe() for _ in addresses]
    members = [
        _processes.Process(
            target=_serve, args=(prepare, rank, addresses, theirs), daemon=True
        )
        for rank, (_, theirs) in enumerate(pipes)
    ]
    for member in members:
        member.start()
    for _, theirs in pipes:
        theirs.close()
    try:
        yield [ours for ours, _ in pipes]
    finally:
        for ours, _ in pipes:
            ours.close()
        for member in members:
            member.join(10)
            member.kill()


def _block(group: Sequence[Connection], steps: int) -> float:
    """How long a step takes, on average over so many, until all have done it."""
    for connection in group:
        connection.send(steps)
    seconds: list[float] = []
    for rank, connection in enumerate(group):
        if not connection.poll(_SECONDS_TO_ANSWER):
            msg = f"rank {rank} gave no answer in {_SECONDS_TO_ANSWER} s"
            raise TimeoutError(msg)
        seconds.append(connection.recv())
    return max(seconds)


def _serve(
    prepare: Prepare, rank: int, addresses: Sequence[str], connection: Connection
) -> None:
    """Runs blocks of the size that is asked for, until nobody asks any more."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    step = prepare(rank, addresses)
    with contextlib.suppress(EOFError):
        while True:
            steps = connection.recv()
            start = time.perf_counter()
            for _ in range(steps):
                step()
            connection.send((time.perf_counter() - start) / steps)
    # Not by way of each library's own end, which waits for the other processes.
    os._exit(0)
