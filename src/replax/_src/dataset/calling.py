"""Calling functions of users: here, in threads, or in worker processes."""

from __future__ import annotations

import abc
import functools
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from replax._src.dataset.block import Block, Index
from replax._src.dataset.structure import call

__all__ = ["Caller", "Threads", "called", "mapped", "mapped_until_error"]


def called(
    function: Callable[..., Any], element: Any, number: int, what: str = "map"
) -> Any:
    """What a function of users makes of an element.

    An error that it raises keeps its class, and says which element it was.
    """
    try:
        return call(function, element)
    except StopIteration as error:
        # Raised out of an iterator it would be taken for the end of the data.
        msg = f"the function of {what} raised StopIteration for element {number}"
        raise RuntimeError(msg) from error
    except Exception as error:
        error.add_note(f"(raised by the function of {what}, for element {number})")
        raise


def mapped(function: Callable[..., Any], block: Block, numbers: Iterable[int]) -> Block:
    """What a function makes of each element of a block."""
    return Block.of_elements(
        [
            called(function, element, number)
            for element, number in zip(block.elements(), numbers, strict=True)
        ]
    )


def mapped_until_error(
    function: Callable[..., Any], block: Block, numbers: Iterable[int]
) -> Block:
    """What a function makes of the elements before the first at which it fails.

    If that is the very first one, its error is raised.
    """
    made: list[Any] = []
    for element, number in zip(block.elements(), numbers, strict=True):
        try:
            made.append(called(function, element, number))
        except Exception:
            if not made:
                raise
            break
    return Block.of_elements(made)


class Caller(abc.ABC):
    """Calls functions beside the thread that asks for it.

    Attributes:
      workers: How many calls are made at the same time.
      piece_bytes: How much at least to hand over at a time, where that has a cost.
    """

    workers: int
    piece_bytes: int = 0

    @abc.abstractmethod
    def start(
        self, function: Callable[..., Any], block: Block, numbers: Index
    ) -> Future[Block]:
        """Begins to do what :func:`mapped_until_error` does."""


class Threads(Caller):
    """Calls in threads: for functions that wait, or compute outside of Python.

    The threads are started by the first call, and end with this object.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = threading.Lock()

    @functools.cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.workers, "replax-map")

    def start(
        self, function: Callable[..., Any], block: Block, numbers: Index
    ) -> Future[Block]:
        """Begins to do what :func:`mapped_until_error` does."""
        with self._lock:
            pool = self._pool
        return pool.submit(mapped_until_error, function, block, numbers)

    def __repr__(self) -> str:
        return f"num_parallel_calls={self.workers}"
