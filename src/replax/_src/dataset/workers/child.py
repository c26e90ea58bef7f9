"""The program of a worker process.

It imports nothing of Replax that would import JAX: a worker is there for the functions
of a user, and imports JAX if they do (see worker.py for how it is loaded).

One thread takes a task, runs it and answers, and then takes the next one. It never has
to send in order to be able to receive or the other way round, for the pool has a thread
for each; so neither side ever waits for the other one while that waits for it. A second
thread waits for the parent to die.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.dataset.workers.wire import (
    RAISED,
    RESULT,
    UNREADABLE,
    UNSENDABLE,
    Message,
    Wire,
    dumps,
    pack,
)
from replax._src.processes.lifeline import end_with_parent
from replax._src.processes.raised import describe

__all__ = ["main"]


def main(connection: int, lifeline: int) -> None:
    """Runs tasks until there are no more.

    Args:
      connection: The descriptor of this side's end of the connection.
      lifeline: The descriptor of a pipe into which nobody writes. The parent holds the
        other end, and it is closed when the parent is no more.
    """
    # Ctrl-C is for the parent, which then ends its workers. The parent has blocked it
    # until here, or Python would be interrupted while it starts.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end = socket.socket(fileno=connection)
    _keep_to_ourselves(end)
    end_with_parent(lifeline)
    for stream in (sys.stdout, sys.stderr):
        # What a function prints is to be seen when it has, and not be lost with us.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    # The pool is gone if a message cannot be exchanged any more.
    with contextlib.suppress(ConnectionError):
        _serve(Wire(end))


def _keep_to_ourselves(end: socket.socket) -> None:
    """Keeps the connection from processes that a function may start.

    Such a process would look to the parent like the worker, after that has died.
    """
    os.set_inheritable(end.fileno(), False)  # noqa: FBT003  # it has no name
    os.register_at_fork(after_in_child=end.close)


def _serve(wire: Wire) -> None:
    path, packed = wire.receive(), wire.receive()
    if path is None or packed is None:
        return
    # Before the functions, which may import from there.
    sys.path[:] = path.value()
    functions: Sequence[Callable[[Any], Any]] = []
    failure = None
    try:
        functions = packed.value()
    except Exception as error:  # noqa: BLE001  # raised in the parent, for each task
        failure = describe(error, dumps, "function").body()
    while (task := wire.receive()) is not None:
        if failure is None:
            wire.send(_answer(functions, task))
        else:
            wire.send(Message(task.number, UNREADABLE, failure, []))
        # Not to be kept until the next one is there.
        del task


def _answer(functions: Sequence[Callable[[Any], Any]], task: Message) -> Message:
    number = task.number
    try:
        argument = task.value()
    except Exception as error:  # noqa: BLE001  # raised in the parent
        return Message(
            number, UNREADABLE, describe(error, dumps, "argument").body(), []
        )
    try:
        result = functions[task.kind](argument)
    except BaseException as error:  # noqa: BLE001  # raised in the parent
        return Message(number, RAISED, describe(error, dumps).body(), [])
    try:
        return pack(number, RESULT, result)
    except Exception as error:  # noqa: BLE001  # raised in the parent
        return Message(number, UNSENDABLE, describe(error, dumps).body(), [])
