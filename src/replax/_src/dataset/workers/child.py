"""The program of a worker process.

It imports nothing of Replax but the wire: a worker is there for the functions of a
user, and imports JAX if they do (see worker.py for how it is loaded).

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
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.dataset.workers.wire import (
    RAISED,
    RESULT,
    UNREADABLE,
    UNSENDABLE,
    Message,
    Raised,
    Wire,
    dumps,
    pack,
)

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
    _keep_to_ourselves(end, lifeline)
    _end_with_parent(lifeline)
    for stream in (sys.stdout, sys.stderr):
        # What a function prints is to be seen when it has, and not be lost with us.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    # The pool is gone if a message cannot be exchanged any more.
    with contextlib.suppress(ConnectionError):
        _serve(Wire(end))


def _keep_to_ourselves(end: socket.socket, lifeline: int) -> None:
    """Keeps the descriptors from processes that a function may start.

    Such a process would look to the parent like the worker, after that has died.
    """
    for descriptor in (end.fileno(), lifeline):
        os.set_inheritable(descriptor, False)  # noqa: FBT003  # it has no name
    os.register_at_fork(after_in_child=end.close)


def _end_with_parent(lifeline: int) -> None:
    def wait() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    if sys.platform == "linux":
        # The thread needs the interpreter, which native code may hold on to for ever.
        # Nobody catches SIGIO, so the system itself ends the process by it. (A
        # PR_SET_PDEATHSIG would come when the *thread* ends that started the worker.)
        import fcntl  # noqa: PLC0415  # where it is used

        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(lifeline, fcntl.F_GETFL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, flags | os.O_ASYNC)
    threading.Thread(target=wait, name="replax-lifeline", daemon=True).start()


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
        failure = _describe(error, "function").body()
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
        return Message(number, UNREADABLE, _describe(error, "argument").body(), [])
    try:
        result = functions[task.kind](argument)
    except BaseException as error:  # noqa: BLE001  # raised in the parent
        return Message(number, RAISED, _describe(error).body(), [])
    try:
        return pack(number, RESULT, result)
    except Exception as error:  # noqa: BLE001  # raised in the parent
        return Message(number, UNSENDABLE, _describe(error).body(), [])


def _describe(error: BaseException, stage: str = "") -> Raised:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # of a user's class
        text = "<no text: its __str__ raises>"
    # The first frame is ours.
    frames = error.__traceback__.tb_next if error.__traceback__ is not None else None
    lines = traceback.format_exception(type(error), error, frames)
    pickled = None
    if isinstance(error, Exception):
        # Others, such as SystemExit, are for this process.
        with contextlib.suppress(Exception):
            pickled = dumps(error)
    return Raised(type(error).__qualname__, text, "".join(lines), pickled, stage)
