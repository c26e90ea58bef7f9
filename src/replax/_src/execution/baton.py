"""Taking turns: replicas of an eager run as threads of which one runs at a time.

Each replica runs until it meets the others at a collective, and then hands over. Racing
threads would be slower (they fight for the interpreter) and give another order of side
effects each time.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.core.frames import user_location

__all__ = ["Turns"]


class _AbandonedError(BaseException):
    """Unwinds a replica whose peers cannot go on."""


class Turns:
    """Runs one function for each replica, and lets them meet.

    Replica 0 runs in the caller's thread, the others each in one of their own that is
    started when its turn comes.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        # Held by whoever waits for the turn: handing over is releasing it.
        self._turn = [threading.Lock() for _ in range(count)]
        for lock in self._turn:
            lock.acquire()
        self._started = [False] * count
        self._done = [False] * count
        self._waiting: dict[int, tuple[str, str, Any]] = {}
        self._outcome: list[Any] = [None] * count
        self._results: list[Any] = [None] * count
        self._failure: BaseException | None = None
        self._all_done = threading.Event()
        self._function: Callable[[int], Any] = lambda _: None

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
        if self._failure is not None:
            raise self._failure
        return self._results

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
        where = user_location()
        for other, (their_label, their_place, _) in self._waiting.items():
            if their_label != label:
                msg = (
                    f"replica {index} is at {label} ({where}) while replica {other} "
                    f"is at {their_label} ({their_place}); all replicas have to meet "
                    f"in the same operations in the same order, so do not put them "
                    f"under a condition that differs between replicas"
                )
                raise RuntimeError(msg)
        self._waiting[index] = (label, where, value)
        if len(self._waiting) == self._count:
            brought = [self._waiting[i][2] for i in range(self._count)]
            self._outcome = list(combine(brought))
            self._waiting.clear()
            return self._outcome[index]
        self._hand_over()
        self._turn[index].acquire()
        if self._failure is not None:
            raise _AbandonedError
        return self._outcome[index]

    def _call(self, index: int) -> None:
        try:
            self._results[index] = self._function(index)
        except _AbandonedError:
            pass
        except BaseException as error:  # noqa: BLE001  # raised again in the caller
            if self._count > 1:
                error.add_note(f"(raised on replica {index} of {self._count})")
            self._fail(error)
        self._done[index] = True
        self._hand_over()

    def _hand_over(self) -> None:
        """Gives the turn to the next replica that can run."""
        if all(self._done):
            self._all_done.set()
            return
        if self._failure is not None:
            self._stop()
            return
        for index in range(self._count):
            if not self._done[index] and index not in self._waiting:
                self._give_turn(index)
                return
        self._fail(self._stranded())

    def _give_turn(self, index: int) -> None:
        if self._started[index]:
            self._turn[index].release()
            return
        self._started[index] = True
        context = contextvars.copy_context()
        threading.Thread(
            target=context.run,
            args=(self._call, index),
            name=f"replica-{index}",
            daemon=True,
        ).start()

    def _fail(self, error: BaseException) -> None:
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
        index, (label, where, _) = next(iter(self._waiting.items()))
        gone = [i for i, done in enumerate(self._done) if done]
        return RuntimeError(
            f"replica {index} waits at {label} ({where}), but replica "
            f"{', '.join(map(str, gone))} has returned without coming there; all "
            f"replicas have to meet in the same operations"
        )
