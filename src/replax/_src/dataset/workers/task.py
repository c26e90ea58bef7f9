"""One call of a function in a worker, from its order to its answer."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from replax._src.core.jax_compat import ArrayClass
from replax._src.dataset.workers.wire import (
    RESULT,
    UNREADABLE,
    UNSENDABLE,
    Message,
    Reducers,
    pack,
)
from replax._src.processes.raised import Raised

__all__ = ["REDUCERS", "Task", "name_of"]

_INSTEAD = (
    "worker processes exchange values by pickling them; hand over what can be pickled, "
    "or use threads, which need no pickling"
)

# To rebuild an array of JAX, a worker would have to open a backend.
REDUCERS: Reducers = {ArrayClass: lambda array: np.asarray(array).__reduce_ex__(5)}


def name_of(function: Callable[..., Any]) -> str:
    """How to call a user's function in an error."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)


@dataclasses.dataclass(eq=False, slots=True)
class Task:
    """A call, and the future of its result.

    Attributes:
      number: Which one of the pool it is.
      which: The index of the function.
      name: What the function is called.
      argument: What it is called with.
      future: Gets what comes out.
    """

    number: int
    which: int
    name: str
    argument: Any
    future: concurrent.futures.Future[Any] = dataclasses.field(
        default_factory=concurrent.futures.Future[Any]
    )

    def packed(self) -> Message:
        """What is sent to a worker.

        Raises:
          TypeError: The argument cannot be pickled.
        """
        try:
            return pack(self.number, self.which, self.argument, REDUCERS)
        except Exception as error:
            raise TypeError(
                f"the argument of {self}, of type {type(self.argument).__qualname__}, "
                f"cannot be pickled ({error}); {_INSTEAD}"
            ) from error

    def answer(self, message: Message, pid: int) -> None:
        """Completes the future with what a worker has sent."""
        try:
            if message.kind == RESULT:
                self.future.set_result(self._result(message))
            else:
                self.future.set_exception(self._error(message, pid))
        except Exception as error:  # noqa: BLE001  # it is raised where it is waited for
            self.fail(error)

    def claim(self) -> bool:
        """Whether the task is to be run: from now on it cannot be cancelled."""
        # One that comes back from a worker that died has been claimed before.
        return self.future.running() or self.future.set_running_or_notify_cancel()

    def fail(self, error: BaseException) -> None:
        """Completes the future with an error, unless it is complete."""
        with contextlib.suppress(concurrent.futures.InvalidStateError):
            self.future.set_exception(error)

    def _result(self, message: Message) -> Any:
        try:
            return message.value()
        except Exception as error:
            raise TypeError(
                f"the result of {self} cannot be rebuilt from what its worker process "
                f"has pickled ({type(error).__qualname__}: {error}); {_INSTEAD}"
            ) from error

    def _error(self, message: Message, pid: int) -> BaseException:
        raised = Raised.of_body(message.body)
        what = f"{raised.name}: {raised.text}"
        if message.kind == UNSENDABLE:
            error: BaseException = TypeError(
                f"the result of {self} cannot be pickled ({what}); {_INSTEAD}"
            )
        elif message.kind == UNREADABLE:
            of = "" if raised.stage == "function" else f"the {raised.stage} of "
            error = TypeError(
                f"{of}{self} cannot be rebuilt in a worker process ({what}); {_INSTEAD}"
            )
        else:
            error = raised.rebuilt() or RuntimeError(
                f"{self} raised in its worker process {what}"
            )
        error.add_note(
            f"The traceback of worker process {pid}, at {self}:\n\n"
            f"{raised.traceback.rstrip()}"
        )
        return error

    def __str__(self) -> str:
        return f"task {self.number} (function {self.name})"
