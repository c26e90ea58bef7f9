"""A function in several processes, for a test."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from replax._src.testing.child import SHOW_STACKS
from replax._src.testing.failures import ProcessesError
from replax._src.testing.member import Member, Place
from replax._src.testing.sending import packed
from replax._src.testing.surroundings import environment_of, free_ports

__all__ = ["ProcessesResult", "run_in", "run_processes"]

# All in seconds: how often is looked, how long a process may take to print its stacks,
# and how long to end when it is asked to.
_LOOK = 0.02
_STACKS = 0.5
_TERMINATION = 2.0

_ATTEMPTS = 4
# What programs print when somebody else has taken the port that was free a moment ago.
# The second one is gRPC's.
_COLLISION = re.compile(
    r"address already in use|failed to add port to server|\bEADDRINUSE\b", re.IGNORECASE
)


@dataclasses.dataclass(frozen=True)
class ProcessesResult:
    r"""What came out of a function in several processes.

    Attributes:
      values: What it returned, by rank.
      outputs: What each process printed, by rank.

    >>> from replax.testing import run_processes
    >>> run_processes(2, lambda: print("here")).outputs
    ['here\n', 'here\n']
    """

    values: list[Any]
    outputs: list[str]


def run_processes(
    n: int,
    fn: Callable[..., Any],
    /,
    *args: Any,
    devices: int | None = 1,
    env: Mapping[str, str | None] | None = None,
    tasks: Sequence[str] | None = None,
    timeout: float = 120.0,
    grace: float = 1.0,
) -> ProcessesResult:
    """Runs a function in each of ``n`` new processes.

    Each is a new Python, and no fork of this one. Its ``TF_CONFIG`` says that it is one
    of ``n`` workers, each with a free port on this machine. The function is
    sent by what it is made of, where the other process could not import it: it may be
    of a test module, of the main program, or a closure.

    When one process fails, the others have ``grace`` seconds to end by themselves. Then
    they are asked to end by SIGTERM, and killed two seconds later. What they have
    started ends with them. If a port was taken by somebody else in the meantime, all
    are started again with other ports.

    Args:
      n: How many processes.
      fn: What each of them runs.
      *args: What it is called with.
      devices: How many virtual CPU devices each process has. With None it has the
        devices there are.
      env: More environment variables; those that are None are removed.
      tasks: The type of the task of each process, such as
        ``["chief", "worker", "evaluator"]``; otherwise all are workers.
      timeout: How many seconds all of it may take. Processes that take longer print
        the stacks of their threads and are ended.
      grace: How many seconds processes have to end when one has failed.

    Returns:
      What the function returned and what was printed, by rank.

    Raises:
      ProcessesError: A process raised, died or took too long. The exception of the
        first one is the cause.
      TypeError: The function or its arguments cannot be pickled.

    >>> from replax.testing import current_process, run_processes
    >>> def where(word):
    ...     import jax
    ...
    ...     return f"{word} {current_process().rank}: {jax.device_count()} devices"
    >>> run_processes(2, where, "rank", devices=3).values
    ['rank 0: 3 devices', 'rank 1: 3 devices']
    """
    tasks = ["worker"] * n if tasks is None else list(tasks)
    _check(n, devices, tasks)
    order = packed(fn, args)
    for attempt in range(_ATTEMPTS):
        # The first ports are kept for servers that share theirs. Others cannot listen
        # at such a port, and find their own free the next time.
        with free_ports(n, keep=attempt == 0) as addresses:
            places = [
                Place(environment_of(rank, addresses, tasks, devices, env or {}))
                for rank in range(n)
            ]
            try:
                return run_in(places, order, timeout, grace)
            except ProcessesError as error:
                if attempt == _ATTEMPTS - 1 or not _has_collided(error):
                    raise
    raise AssertionError("the last attempt returns or raises")


def _check(n: int, devices: int | None, tasks: Sequence[str]) -> None:
    if sys.platform == "win32":
        raise NotImplementedError(
            "run_processes needs groups of processes and signals that Windows does not "
            "have; run these tests on Linux or macOS, such as in WSL"
        )
    if n < 1:
        raise ValueError(f"run_processes got n={n}, and needs at least one process")
    if devices is not None and devices < 1:
        raise ValueError(
            f"run_processes got devices={devices}, and a process has at least one; for "
            f"the devices there are write None"
        )
    if len(tasks) != n:
        raise ValueError(
            f"run_processes got {len(tasks)} tasks ({', '.join(tasks)}) for {n} "
            f"processes; name one for each"
        )


def _has_collided(error: ProcessesError) -> bool:
    return any(
        _COLLISION.search(failure.output) or _COLLISION.search(failure.traceback)
        for failure in error.failures.values()
    )


def run_in(
    places: Sequence[Place], order: bytes, timeout: float, grace: float
) -> ProcessesResult:
    """Runs a function once, in a process at each of several places.

    Args:
      places: Where.
      order: The function, from ``packed``.
      timeout: As of :func:`run_processes`.
      grace: As of :func:`run_processes`.
    """
    with contextlib.ExitStack() as stack:
        members: list[Member] = []
        end = time.monotonic() + timeout
        for rank, place in enumerate(places):
            members.append(Member(rank, order, place))
            stack.callback(members[-1].close)
        _wait(members, end, grace)
        for member in members:
            if not member.has_ended() and time.monotonic() >= end:
                member.late = f"was still running after {timeout:g} s"
        _stop(members)
        return _result(members)


def _wait(members: Sequence[Member], end: float, grace: float) -> None:
    """Waits until all have ended, or no longer are to be waited for."""
    while any(not member.has_ended() for member in members):
        failed = [at for m in members if (at := m.failed_at()) is not None]
        if time.monotonic() >= min([end, *(at + grace for at in failed)]):
            return
        time.sleep(_LOOK)


def _stop(members: Sequence[Member]) -> None:
    """Ends those that still run."""
    if any(member.late for member in members):
        _signal(members, SHOW_STACKS, _STACKS)
    running = [member for member in members if not member.has_ended()]
    _signal(running, signal.SIGTERM, _TERMINATION)
    for member in running:
        member.stopped = True
        member.process.kill()


def _signal(members: Sequence[Member], number: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    for member in members:
        if not member.has_ended():
            member.process.signal(number)
    while any(not m.has_ended() for m in members) and time.monotonic() < end:
        time.sleep(_LOOK)


def _result(members: Sequence[Member]) -> ProcessesResult:
    found = {m.rank: failure for m in members if (failure := m.failure()) is not None}
    values = {
        m.rank: m.value() for m in members if m.returned() and m.rank not in found
    }
    outputs = {m.rank: m.output() for m in members}
    if not found:
        return ProcessesResult(list(values.values()), list(outputs.values()))
    never = float("inf")
    times = {m.rank: never if (at := m.failed_at()) is None else at for m in members}
    first_to_last = sorted(found, key=lambda rank: times[rank])
    stopped = tuple(m.rank for m in members if m.stopped and m.rank not in found)
    error = ProcessesError(
        {rank: found[rank] for rank in first_to_last}, values, outputs, stopped
    )
    raise error from found[first_to_last[0]].error
