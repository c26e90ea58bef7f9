"""Calling functions of users: here, in threads, or in worker processes."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from replax._src.dataset.block import Block
from replax._src.dataset.structure import call

__all__ = ["Caller", "Threads", "called", "mapped"]


def called(
    function: Callable[..., Any], element: Any, number: int, what: str = "map"
) -> Any:
    """What a function of users makes of an element.

    An error that it raises keeps its class, and says which element it was.
    """
    try:
        return call(function, element)
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


class Caller(Protocol):
    """Calls functions beside the thread that asks for it."""

    @property
    def workers(self) -> int:
        """How many calls are made at the same time."""
        ...

    def start(
        self, function: Callable[..., Any], block: Block, numbers: Iterable[int]
    ) -> Future[Block]:
        """Begins to apply a function to each element of a block."""
        ...


class Threads:
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
        self, function: Callable[..., Any], block: Block, numbers: Iterable[int]
    ) -> Future[Block]:
        """Begins to apply a function to each element of a block."""
        with self._lock:
            pool = self._pool
        return pool.submit(mapped, function, block, numbers)

    def __repr__(self) -> str:
        return f"num_parallel_calls={self.workers}"
