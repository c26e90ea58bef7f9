"""One worker process, as its pool sees it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence

from replax._src.dataset.workers import child, wire
from replax._src.dataset.workers.task import Task
from replax._src.dataset.workers.wire import Message, Wire
from replax._src.processes import lifeline as lifeline_module
from replax._src.processes import raised
from replax._src.processes.ending import how_it_ended
from replax._src.processes.program import command

__all__ = ["GRACE", "Worker"]

# How long, in seconds, a process may take that was asked to end.
GRACE = 1.0


class Worker:
    """A process that runs tasks one after the other, and two threads that feed it.

    Args:
      number: Which one of the pool it is.
      before: What is sent before any task.
      answered: Called for each answer with the number of the task and what completes
        it, in a thread of the worker.
      ended: Called when the process has ended, in a thread of the worker.
    """

    def __init__(
        self,
        number: int,
        before: Sequence[Message],
        answered: Callable[[Worker, int, Callable[[Task], None]], None],
        ended: Callable[[Worker], None],
    ) -> None:
        ours, theirs = socket.socketpair()
        lifeline, self._lifeline = os.pipe()
        try:
            self._process = _start(theirs.fileno(), lifeline)
        except BaseException:
            ours.close()
            os.close(self._lifeline)
            raise
        finally:
            theirs.close()
            os.close(lifeline)
        self.number = number
        # What was given and not answered, in order. The pool's lock guards it.
        self.unanswered: dict[int, Task] = {}
        self.over = threading.Event()
        self.failure: BaseException | None = None
        self._wire = Wire(ours)
        self._before = before
        self._answered = answered
        self._ended = ended
        self._outbox = queue.SimpleQueue[Task | None]()
        self._threads = [
            threading.Thread(target=target, name=f"replax-worker-{number}", daemon=True)
            for target in (self._send, self._receive)
        ]

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def start(self) -> None:
        """Starts the threads.

        Raises:
          RuntimeError: There can be no more threads; the process is ended.
        """
        try:
            for thread in self._threads:
                thread.start()
        except BaseException:
            self._process.kill()
            self._process.wait()
            self._wire.close()
            os.close(self._lifeline)
            raise

    def give(self, task: Task) -> None:
        """Adds a task; under the pool's lock, so that they are sent in this order."""
        self.unanswered[task.number] = task
        self._outbox.put(task)

    def finish(self) -> None:
        """Lets the process end when it has done what it was given."""
        self._outbox.put(None)

    def signal(self, number: int) -> None:
        """Sends a signal to the process if it has not ended."""
        self._process.send_signal(number)

    def is_calling(self) -> bool:
        """Whether the running thread is one of this worker's."""
        return threading.current_thread() in self._threads

    def how_it_ended(self) -> str:
        """What became of the process, for an error."""
        return how_it_ended(self._process.returncode)

    def forget(self) -> None:
        """Lets go of what a forked process has inherited of the parent's worker."""
        self._wire.forget()
        os.close(self._lifeline)
        # It is no child of this process; so nobody is to wait for it.
        self._process.returncode = 0

    def _send(self) -> None:
        # The process may be gone at any time; the other thread learns it.
        with contextlib.suppress(OSError):
            for message in self._before:
                self._wire.send(message)
            while (task := self._outbox.get()) is not None:
                self._send_task(task)
                # Nothing is to be kept while waiting for the next one.
                del task
            self._wire.finish()

    def _send_task(self, task: Task) -> None:
        try:
            message = task.packed()
        except TypeError as error:
            failure = error
            self._answered(self, task.number, lambda task: task.fail(failure))
        else:
            self._wire.send(message)

    def _receive(self) -> None:
        try:
            while (message := self._wire.receive()) is not None:
                self._pass_on(message)
                del message
        except OSError:
            pass  # it is gone
        except Exception as error:  # noqa: BLE001  # such as no memory for a result
            self.failure = error
        self._wire.close()
        self._outbox.put(None)
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._lifeline)
        self._ended(self)
        self.over.set()

    def _pass_on(self, message: Message) -> None:
        self._answered(
            self, message.number, lambda task: task.answer(message, self.pid)
        )


def _start(connection: int, lifeline: int) -> subprocess.Popen[bytes]:
    line = command([lifeline_module, raised, wire, child], connection, lifeline)
    # A worker ignores Ctrl-C, but it takes a while until it can say so.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(  # noqa: S603  # it is our own program
            line,
            # No worker opens the devices of the parent.
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
            pass_fds=(connection, lifeline),
            stdin=subprocess.DEVNULL,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
