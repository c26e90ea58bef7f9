"""Worker processes that run the functions of a pipeline."""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import functools
import os
import queue
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Self

from replax._src.core.errors import AbortedError
from replax._src.dataset.workers.task import REDUCERS, Task, name_of
from replax._src.dataset.workers.wire import BEFORE, Message, pack
from replax._src.dataset.workers.worker import GRACE, Worker

__all__ = ["ProcessPool"]

# How many tasks a worker is given at a time: one that it runs, and one that it finds
# when that is done.
AHEAD = 2


class ProcessPool:
    """Runs functions in processes of their own.

    The processes are started when there is work for them. Each is a new Python, which
    does not run the main program again; it gets the functions, and imports what they
    import. It opens no device, unless a function does, and ends with this process at
    the latest, whatever becomes of that.

    A value on its way is not to be changed until the future of its task is done:
    arrays are sent from where they are. Arrays of JAX come as arrays of NumPy.

    A function that raises makes the future raise the same, with a note that says where.
    A process that dies makes the future of the task it ran raise an ``AbortedError``;
    other tasks are run by the others, and by a new process in its place.

    Whoever waits for futures has to hold on to the pool: when it is collected, its
    tasks are given up.

    Args:
      functions: What can be run. Each takes one argument.
      count: How many processes there may be.

    Raises:
      TypeError: A function cannot be pickled.
    """

    def __init__(self, functions: Sequence[Callable[[Any], Any]], count: int) -> None:
        if sys.platform == "win32":
            raise NotImplementedError(
                "worker processes need sockets and signals that Windows does not have; "
                "use threads instead"
            )
        if count < 1:
            raise ValueError(
                f"a pool got count={count}, and needs at least one worker process"
            )
        self._names = [name_of(function) for function in functions]
        self._crew = _Crew(_packed(functions), count)
        # Garbage is collected in any thread at any time; so this may not wait, nor
        # take a lock. The end of the program is seen to by `_close_all`.
        weakref.finalize(self, self._crew.orders.put, None).atexit = False

    def submit(self, which: int, argument: Any) -> concurrent.futures.Future[Any]:
        """Runs ``functions[which](argument)`` in a worker process.

        Tasks are begun in the order in which they come, and numbered from zero.

        Args:
          which: The index of the function.
          argument: Anything that can be pickled.

        Returns:
          The future of the result. It can be cancelled until it is sent to a worker.

        Raises:
          RuntimeError: The pool is closed.
        """
        return self._crew.submit(which, self._names[which], argument)

    def close(self) -> None:
        """Ends the processes.

        Tasks that are not begun are given up, and those that are may take another
        second. Then the processes are terminated, and killed if they do not let them.
        """
        self._crew.close()

    @property
    def pids(self) -> list[int]:
        """The ids of the processes that there are now."""
        return self._crew.pids

    def __len__(self) -> int:
        """How many processes there may be."""
        return self._crew.count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._crew.closed else f"{len(self.pids)} running"
        return f"ProcessPool([{', '.join(self._names)}], count={len(self)})  # {state}"


def _packed(functions: Sequence[Callable[[Any], Any]]) -> Message:
    try:
        return pack(BEFORE, 0, list(functions), REDUCERS)
    except Exception as error:
        raise TypeError(
            f"{_blamed(functions)} cannot be pickled to be sent to worker processes "
            f"({error}); leave what cannot be pickled out of what it closes over (open "
            f"files and connections are best opened in the function), or use threads"
        ) from error


def _blamed(functions: Sequence[Callable[[Any], Any]]) -> str:
    for function in functions:
        try:
            pack(BEFORE, 0, function, REDUCERS)
        except Exception:  # noqa: BLE001  # it is this one
            return f"the function {name_of(function)}"
    return "the functions"


class _Crew:
    """The workers of a pool, and what they have to do.

    Their threads refer to it and not to the pool, so that the pool can be collected.
    """

    def __init__(self, functions: Message, count: int) -> None:
        self.count = count
        self.closed = False
        # Whatever comes here closes the crew, in a thread of its own.
        self.orders = queue.SimpleQueue[None]()
        self._functions = functions
        self._lock = threading.Lock()
        self._numbers = 0
        self._pending: collections.deque[Task] = collections.deque()
        self._workers: list[Worker] = []
        self._started = 0
        self._watched = False

    @property
    def pids(self) -> list[int]:
        with self._lock:
            return [worker.pid for worker in self._workers]

    def submit(
        self, which: int, name: str, argument: Any
    ) -> concurrent.futures.Future[Any]:
        with self._lock:
            if self.closed:
                raise RuntimeError(
                    f"function {name} was given to a pool of worker processes that is "
                    f"closed; make a new pool"
                )
            task = Task(self._numbers, which, name, argument)
            self._numbers += 1
            self._pending.append(task)
            later = self._hand_out()
        _do(later)
        return task.future

    def close(self) -> None:
        with self._lock:
            self.closed = True
            pending = list(self._pending)
            self._pending.clear()
            workers = list(self._workers)
        # Lets the thread go that waits for it.
        self.orders.put(None)
        for task in pending:
            if task.claim():
                task.fail(
                    AbortedError(f"{task} was not begun: its pool has been closed")
                )
        if any(worker.is_calling() for worker in workers):
            return  # called by a future; a worker cannot wait for itself
        for worker in workers:
            worker.finish()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            _wait(workers, number)
        for worker in workers:
            worker.over.wait()

    def forget(self) -> None:
        """Lets go of everything, in a process that was forked."""
        self._lock = threading.Lock()
        self.closed = True
        for worker in self._workers:
            worker.forget()
        self._workers.clear()
        self._pending.clear()

    def _hand_out(self) -> list[Callable[[], None]]:
        """Gives tasks to workers, under the lock.

        Returns:
          What is to be called without the lock, since it may run a user's code.
        """
        later: list[Callable[[], None]] = []
        while self._pending:
            room = [w for w in self._workers if len(w.unanswered) < AHEAD]
            worker = min(room, key=lambda w: len(w.unanswered), default=None)
            wanted = worker is None or worker.unanswered
            if wanted and len(self._workers) < self.count:
                worker = None
            elif worker is None:
                break
            task = self._pending.popleft()
            if not task.claim():
                continue
            try:
                worker = worker or self._started_worker()
            except Exception as error:  # noqa: BLE001  # it is raised by the future
                later.append(functools.partial(_not_started, task, error))
            else:
                worker.give(task)
        return later

    def _started_worker(self) -> Worker:
        if not self._watched:
            _watch(self)
            self._watched = True
        path = pack(BEFORE, 0, list(sys.path))
        worker = Worker(
            self._started, (path, self._functions), self._answered, self._ended
        )
        worker.start()
        self._started += 1
        self._workers.append(worker)
        return worker

    def _answered(
        self, worker: Worker, number: int, complete: Callable[[Task], None]
    ) -> None:
        with self._lock:
            task = worker.unanswered.pop(number, None)
            later = self._hand_out()
        _do(later)
        # Otherwise the worker has ended, and the task with it.
        if task is not None:
            complete(task)

    def _ended(self, worker: Worker) -> None:
        with self._lock:
            self._workers.remove(worker)
            tasks = list(worker.unanswered.values())
            worker.unanswered.clear()
            if self.closed:
                given_up = tasks
            else:
                # A worker answers a task before it begins the next one. So only the
                # first one may have been begun, and the others can still be run.
                given_up = tasks[:1]
                self._pending.extendleft(reversed(tasks[1:]))
            later = self._hand_out()
        _do(later)
        for task in given_up:
            task.fail(_loss(task, worker, closed=self.closed))


def _do(later: list[Callable[[], None]]) -> None:
    for action in later:
        action()


def _not_started(task: Task, error: Exception) -> None:
    failure = AbortedError(
        f"{task} was not begun: no worker process could be started "
        f"({type(error).__qualname__}: {error}); ask for fewer processes, or use "
        f"threads"
    )
    failure.__cause__ = error
    task.fail(failure)


def _loss(task: Task, worker: Worker, *, closed: bool) -> AbortedError:
    if closed:
        return AbortedError(f"{task} was given up: its pool has been closed")
    if worker.failure is not None:
        error = AbortedError(
            f"the answer to {task} could not be received from worker process "
            f"{worker.pid} ({type(worker.failure).__qualname__}: {worker.failure})"
        )
        error.__cause__ = worker.failure
        return error
    return AbortedError(
        f"worker process {worker.pid} {worker.how_it_ended()} before it had answered "
        f"{task}; look at what the function does in native code, and at how much "
        f"memory it takes (a system that is out of memory kills): fewer processes "
        f"need less"
    )


def _wait(workers: Sequence[Worker], number: int | None) -> None:
    """Waits for the workers for a moment, after sending a signal."""
    end = time.monotonic() + GRACE
    for worker in workers:
        if number is not None and not worker.over.is_set():
            worker.signal(number)
    for worker in workers:
        worker.over.wait(max(0.0, end - time.monotonic()))


_crews: weakref.WeakSet[_Crew] = weakref.WeakSet()


def _watch(crew: _Crew) -> None:
    """Has the crew closed when its pool is collected, or the program ends."""
    _watch_process()
    _crews.add(crew)

    def close_when_ordered() -> None:
        crew.orders.get()
        crew.close()

    threading.Thread(
        target=close_when_ordered, name="replax-workers", daemon=True
    ).start()


@functools.cache
def _watch_process() -> None:
    atexit.register(_close_all)
    # A forked process would hold the connections open beyond the end of this one, so
    # that workers would go on waiting for tasks.
    os.register_at_fork(after_in_child=_forget_all)


def _close_all() -> None:
    for crew in list(_crews):
        crew.close()


def _forget_all() -> None:
    for crew in list(_crews):
        crew.forget()
    _crews.clear()
