"""Messages between a pool and its workers.

They go through a pair of connected sockets without a name, and not through pipes: one
call to the system receives a whole array, while a pipe gives 64 KiB at a time and the
thread that reads has to win the interpreter back for each piece. A parent that computes
in Python meanwhile gets 50 MB ten times as fast.

Worker processes load this file without the package around it, whose import would import
JAX (see worker.py). So it uses the standard library alone, and the two libraries that
come with what is sent, when it is sent.
"""

from __future__ import annotations

import copyreg
import dataclasses
import io
import pickle
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = [
    "BEFORE",
    "RAISED",
    "RESULT",
    "UNREADABLE",
    "UNSENDABLE",
    "Message",
    "Reducers",
    "Wire",
    "dumps",
    "pack",
]

# What a worker answers with.
RESULT = 0  # What the function returned.
RAISED = 1  # The function raised.
UNSENDABLE = 2  # The result cannot be pickled.
UNREADABLE = 3  # The function or its argument cannot be rebuilt in a worker.

# In place of the number of a task: the first two messages, which are where the worker
# imports from, and the functions it is to run.
BEFORE = -1

Reducers = Mapping[type[Any], Callable[[Any], Any]]
_NONE: Reducers = {}
_Callback = Callable[[pickle.PickleBuffer], Any] | None

# The number of the task, what kind of message, the size of the body, how many buffers.
_HEADER = struct.Struct("=qqqq")
_SIZE = struct.Struct("=q")

# Systems bound the bytes and the buffers of one call: 2 GiB, and 1024 on Linux.
_PIECE = 1 << 26
_PIECES = 16


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A value on its way, pickled.

    Attributes:
      number: The number of the task, or BEFORE.
      kind: For a worker the index of the function, for the pool what is answered.
      body: The value but for its large parts.
      buffers: The memory of arrays in it, which is neither copied nor pickled.
    """

    number: int
    kind: int
    body: bytes | bytearray
    buffers: Sequence[Any]

    def value(self) -> Any:
        """The value, made anew; its arrays use the memory of the message."""
        return pickle.loads(self.body, buffers=self.buffers)  # noqa: S301  # from ours


def pack(number: int, kind: int, value: Any, reducers: Reducers = _NONE) -> Message:
    """The message with ``value``.

    Args:
      number: The number of the task.
      kind: The kind of the message.
      value: Anything that can be pickled. Functions and classes which the other side
        cannot import, because they are of the main program or of no module, are
        pickled by what they are made of.
      reducers: How to pickle objects of some classes, as in ``copyreg``.
    """
    buffers: list[pickle.PickleBuffer] = []
    body = dumps(value, reducers, buffers)
    return Message(number, kind, body, [buffer.raw() for buffer in buffers])


# What the main program is called; the second in processes of multiprocessing.
_MAIN_NAMES = (b"__main__", b"__mp_main__")


def dumps(
    value: Any,
    reducers: Reducers = _NONE,
    buffers: list[pickle.PickleBuffer] | None = None,
) -> bytes:
    """``value``, pickled; with ``buffers`` arrays are put there instead."""
    callback = None if buffers is None else buffers.append
    try:
        body = _pickled(value, reducers, callback)
    except Exception:  # noqa: BLE001  # raised again below, if it is still one
        body = None
    # The main program of a worker is another one. To look for its name is quicker
    # than cloudpickle, which asks Python code about every object; and to find it in a
    # text does no harm.
    if body is None or any(name in body for name in _MAIN_NAMES):
        if buffers is not None:
            buffers.clear()
        body = _pickled_by_value(value, reducers, callback)
    return body


def _pickled(value: Any, reducers: Reducers, callback: _Callback) -> bytes:
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=5, buffer_callback=callback)
    pickler.dispatch_table = {**copyreg.dispatch_table, **reducers}
    pickler.dump(value)
    return file.getvalue()


def _pickled_by_value(value: Any, reducers: Reducers, callback: _Callback) -> bytes:
    import cloudpickle  # noqa: PLC0415  # `import replax` does not need it

    spawned_main = sys.modules.get("__mp_main__")
    if spawned_main is not None:
        cloudpickle.register_pickle_by_value(spawned_main)

    class Pickler(cloudpickle.Pickler):
        # It is a name of the class there, so setting it on a pickler does nothing.
        dispatch_table = {**cloudpickle.Pickler.dispatch_table, **reducers}  # noqa: RUF012

    file = io.BytesIO()
    Pickler(file, protocol=5, buffer_callback=callback).dump(value)
    return file.getvalue()


class Wire:
    """One end of the connection; one thread may send while another one receives."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, message: Message) -> None:
        """Sends the message, as soon as the other side takes it.

        Raises:
          OSError: The other side is gone.
        """
        sizes = b"".join(_SIZE.pack(len(buffer)) for buffer in message.buffers)
        header = _HEADER.pack(
            message.number, message.kind, len(message.body), len(message.buffers)
        )
        pieces = [memoryview(header + sizes)]
        for buffer in (message.body, *message.buffers):
            view = memoryview(buffer)
            pieces += [view[at : at + _PIECE] for at in range(0, len(view), _PIECE)]
        first = 0
        while first < len(pieces):
            sent = self._end.sendmsg(pieces[first : first + _PIECES])
            while first < len(pieces) and sent >= len(pieces[first]):
                sent -= len(pieces[first])
                first += 1
            if sent:
                pieces[first] = pieces[first][sent:]

    def receive(self) -> Message | None:
        """The next message, or None if the other side has no more.

        Raises:
          OSError: The other side is gone.
        """
        header = bytearray(_HEADER.size)
        if not self._fill(header):
            return None
        number, kind, size, count = _HEADER.unpack(header)
        sizes = bytearray(count * _SIZE.size)
        body = bytearray(size)
        complete = self._fill(sizes) and self._fill(body)
        buffers: list[Any] = []
        for (length,) in _SIZE.iter_unpack(sizes):
            buffer = _memory(length)
            complete = complete and self._fill(buffer)
            buffers.append(buffer)
        return Message(number, kind, body, buffers) if complete else None

    def finish(self) -> None:
        """Tells the other side that nothing more is sent."""
        self._end.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Gives the connection up, under way or not."""
        try:
            # A thread may be waiting in it.
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        finally:
            self._end.close()

    def forget(self) -> None:
        """Closes this process's copy of the connection only; for a forked process."""
        self._end.close()

    def _fill(self, memory: Any) -> bool:
        view = memoryview(memory)
        while view:
            count = self._end.recv_into(view[:_PIECE], 0, socket.MSG_WAITALL)
            if not count:
                return False
            view = view[count:]
        return True


def _memory(size: int) -> Any:
    """Memory for an array: NumPy's, since a bytearray would be written twice."""
    import numpy as np  # noqa: PLC0415  # a worker may do without it

    return np.empty(size, np.uint8).data
