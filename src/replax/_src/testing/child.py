"""The program of a process that runs a function for a test.

It imports nothing of Replax that would import JAX: the function may be about how JAX is
set up.
"""

from __future__ import annotations

import faulthandler
import io
import os
import pickle
import signal
import struct
import sys
import time

from replax._src.processes.lifeline import end_with_parent
from replax._src.processes.raised import describe

__all__ = ["CLOCK", "RAISED", "RETURNED", "SHOW_STACKS", "main"]

# An answer begins with how the function ended, and when.
RETURNED, RAISED = b"V", b"E"
CLOCK = struct.Struct("=d")

# Makes a process print its stacks, also when its threads do not come to running Python.
SHOW_STACKS = signal.SIGUSR1


def main(order: int, answer: int, lifeline: int) -> None:
    """Runs the function, and writes down what came of it.

    Args:
      order: The descriptor of a file with the search path, the function and arguments.
      answer: The descriptor of a file for the answer.
      lifeline: The descriptor of a pipe that is closed when the parent is no more.
    """
    faulthandler.enable()
    faulthandler.register(SHOW_STACKS)
    end_with_parent(lifeline, group=True)
    for stream in (sys.stdout, sys.stderr):
        # What is printed is to be seen, whatever becomes of the process.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    os.set_inheritable(answer, False)  # noqa: FBT003  # it has no name
    with os.fdopen(order, "rb") as file:
        kind, body = _run(file.read())
    with os.fdopen(answer, "wb") as file:
        # All at once, since the parent may look at any time.
        file.write(kind + CLOCK.pack(time.monotonic()) + body)
    if kind == RAISED:
        sys.exit(1)


def _run(order: bytes) -> tuple[bytes, bytes]:
    stage = "function"
    try:
        path, packed = pickle.loads(order)  # noqa: S301  # from our parent
        # Before the function, which may import from there.
        sys.path[:] = path
        import cloudpickle  # noqa: PLC0415  # found on that path

        dumps = cloudpickle.dumps
    except BaseException as error:  # noqa: BLE001  # raised in the parent
        return RAISED, describe(error, pickle.dumps, stage).body()
    try:
        function, arguments = pickle.loads(packed)  # noqa: S301  # from our parent
        stage = ""
        value = function(*arguments)
        stage = "result"
        return RETURNED, dumps(value)
    except SystemExit as error:
        if error.code in {None, 0}:
            return RETURNED, dumps(None)
        return RAISED, describe(error, dumps, stage).body()
    except BaseException as error:  # noqa: BLE001  # raised in the parent
        return RAISED, describe(error, dumps, stage).body()
