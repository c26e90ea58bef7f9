"""Taking turns: replicas of an eager run as threads of which one runs at a time.

Each replica runs until it meets the others at a collective, and then hands over. Racing
threads would be slower (they fight for the interpreter) and give another order of side
effects each time.
"""

from __future__ import annotations

import contextvars
import dataclasses
import threading
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.core.frames import user_location
from replax._src.execution.replica_threads import run_in_thread

__all__ = ["Turns"]


class _AbandonedError(BaseException):
    """Unwinds a replica whose peers cannot go on."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Arrival:
    """A replica that has come to a meeting.

    Attributes:
      label: What is done there.
      where: The user's line.
      value: What the replica brings.
    """

    label: str
    where: str
    value: Any


class Turns:
    """Runs one function for each replica, and lets them meet.

    Replica 0 runs in the caller's thread, the others each in one of their own, which
    begins when its turn comes. When one fails, the others are unwound from the meeting
    at which they wait, and the failure is raised in the caller.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        # Held by whoever waits for the turn: handing over is releasing it.
        self._turn = [threading.Lock() for _ in range(count)]
        for lock in self._turn:
            lock.acquire()
        self._started = [False] * count
        self._done = [False] * count
        self._arrived: dict[int, _Arrival] = {}
        self._outcome: Sequence[Any] = ()
        self._results: list[Any] = [None] * count
        self._failure: BaseException | None = None
        self._all_done = threading.Event()
        self._function: Callable[[int], Any] = lambda _: None
        # Only who has the turn changes the above, but for an interrupted caller.
        self._changing = threading.RLock()

    def run(self, function: Callable[[int], Any]) -> list[Any]:
        """Calls ``function(index)`` for every replica, and returns what they return."""
        self._function = function
        self._started[0] = True
        try:
            self._call(0)
            self._all_done.wait()
        finally:
            if not self._all_done.is_set():
                # Interrupted: the other threads must not wait for ever.
                self._fail(_AbandonedError())
        failure = self._failure
        if failure is not None:
            self._failure = None
            try:
                raise failure
            finally:
                del failure  # or its traceback would keep itself alive
        return self._results

    def require_going(self) -> None:
        """Unwinds the calling replica if another one has failed."""
        if self._failure is not None:
            raise _AbandonedError

    def meet(
        self,
        index: int,
        label: str,
        value: Any,
        combine: Callable[[list[Any]], Sequence[Any]],
    ) -> Any:
        """Waits until every replica has come here with a value.

        Args:
          index: Which replica this is.
          label: What is done, the same on all replicas.
          value: What this replica brings.
          combine: Makes what each replica gets from what all have brought. It is called
            once, by the last replica to come.
        """
        self.require_going()
        arrival = _Arrival(label, user_location(), value)
        self._require_same(index, arrival)
        self._arrived[index] = arrival
        if len(self._arrived) == self._count:
            self._outcome = self._combined(combine, arrival)
        else:
            self._hand_over()
            self._turn[index].acquire()
            self.require_going()
        return self._outcome[index]

    def _require_same(self, index: int, arrival: _Arrival) -> None:
        for other, theirs in self._arrived.items():
            if theirs.label != arrival.label:
                error = RuntimeError(
                    f"replica {index} is at {arrival.label} ({arrival.where}) while "
                    f"replica {other} is at {theirs.label} ({theirs.where}); all "
                    f"replicas have to meet in the same operations in the same order, "
                    f"so do not put them under a condition that differs between "
                    f"replicas"
                )
                self._fail(error)
                raise error

    def _combined(
        self, combine: Callable[[list[Any]], Sequence[Any]], arrival: _Arrival
    ) -> Sequence[Any]:
        brought = [self._arrived[i].value for i in range(self._count)]
        try:
            return combine(brought)
        except BaseException as error:
            error.add_note(f"(raised in {arrival.label}, {arrival.where})")
            self._fail(error)
            raise
        finally:
            self._arrived.clear()

    def _call(self, index: int) -> None:
        try:
            self._results[index] = self._function(index)
        except _AbandonedError:
            pass
        except BaseException as error:  # noqa: BLE001  # raised again in the caller
            if error is not self._failure:
                error.add_note(f"(raised on replica {index} of {self._count})")
            self._fail(error)
        with self._changing:
            self._done[index] = True
            self._hand_over()

    def _hand_over(self) -> None:
        """Gives the turn to the next replica that can run."""
        with self._changing:
            if all(self._done):
                self._all_done.set()
            elif self._failure is not None:
                self._stop()
            else:
                for index in range(self._count):
                    if not self._done[index] and index not in self._arrived:
                        self._give_turn(index)
                        return
                self._fail(self._stranded())

    def _give_turn(self, index: int) -> None:
        if self._started[index]:
            self._turn[index].release()
            return
        context = contextvars.copy_context()
        try:
            run_in_thread(lambda: context.run(self._call, index), f"replica-{index}")
        except RuntimeError as error:  # the process has too many threads
            self._fail(error)
        else:
            self._started[index] = True

    def _fail(self, error: BaseException) -> None:
        with self._changing:
            if self._failure is None:
                self._failure = error
                self._stop()

    def _stop(self) -> None:
        """Lets every replica that waits give up."""
        for index in range(self._count):
            if not self._started[index]:
                self._done[index] = True
            elif not self._done[index] and self._turn[index].locked():
                self._turn[index].release()
        if all(self._done):
            self._all_done.set()

    def _stranded(self) -> RuntimeError:
        index, arrival = next(iter(self._arrived.items()))
        gone = ", ".join(str(i) for i, done in enumerate(self._done) if done)
        return RuntimeError(
            f"replica {index} waits at {arrival.label} ({arrival.where}), but replica "
            f"{gone} has returned without coming there; all replicas have to meet in "
            f"the same operations in the same order"
        )
