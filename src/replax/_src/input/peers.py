"""What workers tell each other about the steps of a dataset, key by key.

A key names the dataset, the worker, the iteration and the step, and is deleted soon
after all workers have read it. A wait goes on in slices, between which it is found out
whether it can still end: the other worker may have left the loop, or have come to its
own end.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import threading
import time
from typing import NoReturn

from replax._src.cluster.coordination import Coordination
from replax._src.cluster.input_steps import InputSteps
from replax._src.core.errors import (
    AbortedError,
    DeadlineExceededError,
    InvalidArgumentError,
    UnavailableError,
)

__all__ = ["Peers", "Round"]

# After this many seconds it is looked whether a worker may still say something.
_SLICE = 0.5

# What was said about so many steps is removed with one message.
_TOGETHER = 16

# Datasets are numbered in the order in which they are distributed, which is the same on
# all workers; the keys of a group of processes are those of the whole process.
_numbers = itertools.count()


class Peers:
    """The workers that read one dataset.

    Args:
      coordination: How they talk.
      patience: How many seconds to wait for another worker's step.
      input_steps: Tells of steps that could not be made, where steps are not told.
    """

    def __init__(
        self, coordination: Coordination, patience: float, input_steps: InputSteps
    ) -> None:
        self.coordination = coordination
        self.patience = patience
        self.input_steps = input_steps
        self.number = next(_numbers)
        self.rank = coordination.rank
        self._rounds = 0
        self._lock = threading.Lock()
        _say_goodbye_at_exit(coordination)

    def key(self, rank: int, *rest: object) -> str:
        """Where a worker writes about this dataset."""
        return "/".join(map(str, ("replax/input", self.number, rank, *rest)))

    def begin(self) -> Round:
        """Another iteration over the dataset."""
        with self._lock:
            number = self._rounds
            self._rounds += 1
        return Round(self, number)


class Round:
    """One iteration over a dataset, on all workers.

    Args:
      peers: The workers.
      number: Which iteration it is.
    """

    def __init__(self, peers: Peers, number: int) -> None:
        self._peers = peers
        self._talk = peers.coordination
        self._number = number
        self._name = f"{peers.number}/{number}"
        self._over = threading.Event()
        self.rank = peers.rank

    @property
    def is_over(self) -> bool:
        """Whether this worker reads no further."""
        return self._over.is_set()

    def tell(self, step: int, text: str) -> None:
        """Says something about a step to all other workers."""
        if not step:
            begun = str(self._number + 1)
            self._talk.put(self._peers.key(self.rank, "begun"), begun, again=True)
        self._talk.put(self._step(self.rank, step), text)

    def hear(self, step: int, rank: int) -> str:
        """What another worker says about a step."""
        key, whose = self._step(rank, step), f"rank {rank}"
        end = time.monotonic() + self._peers.patience
        while not self._over.is_set():
            left = end - time.monotonic()
            try:
                return self._talk.get(key, max(0.001, min(left, _SLICE)), whose)
            except DeadlineExceededError:
                self._check(rank, step)
                if left <= _SLICE:
                    self._give_up(rank, step)
        msg = f"the iteration was left while rank {rank} was waited for"
        raise AbortedError(msg)

    def forget(self, step: int) -> None:
        """Removes what this worker said about steps that all have come past."""
        if step >= 0:
            if step % _TOGETHER == _TOGETHER - 1:
                self._talk.delete(self._key(self.rank, step // _TOGETHER))
        elif self._number > 1:
            # All begin this iteration, so nobody reads the one before the last one.
            self._talk.delete(self._peers.key(self.rank, self._number - 2))

    def fail(self, step: int, error: Exception) -> None:
        """Says that this worker could not make a step about which nobody asks."""
        text = f"{type(error).__name__}: {error}"
        with contextlib.suppress(UnavailableError, DeadlineExceededError):
            self._peers.input_steps.fail(self._name, step, text)

    def take(self, steps: int) -> None:
        """Raises if another worker could not make one of the first steps."""
        self._peers.input_steps.take(self._name, steps)

    def finish(self) -> None:
        """Does so at the end, with the latest news."""
        self._peers.input_steps.end(self._name)

    def drop(self) -> None:
        """The program of this worker takes no more steps."""
        self._peers.input_steps.forget(self._name)
        self.leave()

    def end(self) -> None:
        """All workers know that there are no more steps."""
        self._over.set()

    def leave(self) -> None:
        """This worker reads no further; the others need not wait for it."""
        if self._over.is_set():
            return
        self._over.set()
        with contextlib.suppress(UnavailableError, DeadlineExceededError):
            self._talk.put(self._key(self.rank, "left"), "", again=True)

    def _key(self, rank: int, what: object) -> str:
        return self._peers.key(rank, self._number, what)

    def _step(self, rank: int, step: int) -> str:
        return self._key(rank, f"{step // _TOGETHER}/{step}")

    def _check(self, rank: int, step: int) -> None:
        """Raises if a worker is not going to say anything about a step."""
        if self._talk.find(self._key(rank, "left")) is not None:
            # It may have said it before it left.
            if self._talk.find(self._step(rank, step)) is not None:
                return
            msg = (
                f"rank {rank} has left iteration {self._number + 1} over a dataset "
                f"before step {step}, which rank {self.rank} wants; all workers have "
                f"to leave a loop at the same step"
            )
            raise InvalidArgumentError(msg)
        if self._talk.find(_over(rank)) is not None:
            self._give_up(rank, step)

    def _give_up(self, rank: int, step: int) -> NoReturn:
        begun = int(self._talk.find(self._peers.key(rank, "begun")) or 0)
        if begun <= self._number:
            msg = (
                f"rank {self.rank} has begun {self._number + 1} iterations over a "
                f"dataset, and rank {rank} has begun {begun}; all workers have to "
                f"iterate over it equally often"
            )
            raise InvalidArgumentError(msg)
        msg = (
            f"rank {self.rank} waited {self._peers.patience:g} s for rank {rank} to "
            f"make step {step} of iteration {self._number + 1} over a dataset, in "
            f"vain; look at what rank {rank} is doing"
        )
        raise DeadlineExceededError(msg)


def _over(rank: int) -> str:
    """Where a worker says that its program is over."""
    return f"replax/input/over/{rank}"


@functools.cache
def _say_goodbye_at_exit(coordination: Coordination) -> None:
    def say() -> None:
        # The coordinator may be gone already.
        with contextlib.suppress(UnavailableError, DeadlineExceededError):
            coordination.put(_over(coordination.rank), "", again=True)

    # JAX leaves the group at exit too: it said so before, and so it is done after this.
    atexit.register(say)
