"""Elements that are being made while earlier ones are used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, State

__all__ = ["LookAheadCursor"]


class LookAheadCursor(Cursor):
    """Starts to make elements ahead of their use, and gives them in their order.

    Its position is where the source stood before the oldest elements that have not
    been given, and how many of these were.

    Args:
      child: What is read.
      start: Begins to make elements of those with these numbers.
      ahead: How many elements are being made besides those that are asked for.
    """

    def __init__(
        self,
        child: Cursor,
        start: Callable[[Block, int], Future[Block]],
        ahead: int,
    ) -> None:
        self._child = child
        self._start = start
        self._ahead = ahead
        self._number = 0
        self._source_ended = False
        # What is being made: (the elements, how many, number and state before them).
        self._pending: deque[tuple[Future[Block], int, int, State]] = deque()
        self._pending_size = 0
        self._current: tuple[Block, int, State] | None = None
        self._given = 0  # of the current block

    def take(self, count: int) -> Block | None:
        self._fill(count)
        if self._current is None:
            if not self._pending:
                return None
            future, size, number, state = self._pending.popleft()
            self._pending_size -= size
            self._current = (future.result(), number, state)
            self._given = 0
        block = self._current[0]
        part = block.part(self._given, self._given + count)
        self._given += part.size
        if self._given == block.size:
            self._current = None
        return part

    def _fill(self, count: int) -> None:
        # Small enough for all workers to have some of what is asked for.
        size = max(1, count // (2 * self._ahead))
        while not self._source_ended and self._pending_size < count + self._ahead:
            state = self._child.state()
            try:
                block = self._child.take(size)
                if block is None:
                    self._source_ended = True
                    return
                future = self._start(block, self._number)
                made = block.size
            except Exception as error:  # noqa: BLE001  # raised in its turn
                future = Future[Block]()
                future.set_exception(error)
                made = 1
            self._pending.append((future, made, self._number, state))
            self._pending_size += made
            self._number += made

    def state(self) -> State:
        if self._current is not None:
            _, number, state = self._current
            return [number, self._given, state]
        if self._pending:
            _, _, number, state = self._pending[0]
            return [number, 0, state]
        return [self._number, 0, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, given, child_state = state
        self._child.restore(child_state)
        while given:
            # What has been given is not made again.
            block = self._child.take(given)
            if block is None:
                return
            given -= block.size
            self._number += block.size

    def close(self) -> None:
        for future, *_ in self._pending:
            future.cancel()
        self._child.close()
