"""Elements that are being made while earlier ones are used."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, State

__all__ = ["LookAheadCursor"]

_LARGEST_PIECE = 64


@dataclasses.dataclass
class _Piece:
    """Elements that are being made, in the order of the source.

    Attributes:
      made: What becomes of them. If one cannot be made, these are the ones before it;
        if it is the first one, that is the error.
      source: What they are made of; None if the source has failed.
      number: The number of the first one.
      before: The state of the source before it read them.
      passed: How many elements the source read from there on come before these.
    """

    made: Future[Block]
    source: Block | None
    number: int
    before: State
    passed: int

    @property
    def size(self) -> int:
        return 1 if self.source is None else self.source.size


class LookAheadCursor(Cursor):
    """Starts to make elements ahead of their use, and gives them in their order.

    Its position is where the source stood before the oldest elements that have not
    been given, and how many of these were.

    Args:
      child: What is read.
      start: Begins to make elements of those with these numbers.
      workers: How many pieces of elements are made at the same time.
      piece_bytes: How large a piece is at least.
    """

    def __init__(
        self,
        child: Cursor,
        start: Callable[[Block, int], Future[Block]],
        workers: int,
        piece_bytes: int,
    ) -> None:
        self._child = child
        self._start = start
        self._workers = workers
        self._piece_bytes = piece_bytes
        self._least = 1  # elements in a piece
        self._number = 0
        self._source_ended = False
        self._pending: deque[_Piece] = deque()
        self._pending_size = 0
        self._current: Block | None = None  # what was made of the first piece

    def take(self, count: int) -> Block | None:
        self._fill(count)
        if not self._pending:
            return None
        piece = self._pending[0]
        if self._current is None:
            try:
                self._current = piece.made.result()
            except Exception:
                self._go_on_behind(piece, 1)
                raise
        part = self._current.part(0, count)
        if part.size == self._current.size:
            self._current = None
            self._go_on_behind(piece, part.size)
        else:
            self._current = self._current.part(part.size, self._current.size)
            self._pass(piece, part.size)
        return part

    def _go_on_behind(self, piece: _Piece, count: int) -> None:
        """Leaves so many elements of a piece behind, and begins to make the others."""
        self._pass(piece, count)
        if piece.source is None or not piece.source.size:
            self._pending.popleft()
        else:
            piece.made = self._start(piece.source, piece.number)

    def _pass(self, piece: _Piece, count: int) -> None:
        piece.number += count
        piece.passed += count
        self._pending_size -= count
        if piece.source is not None:
            piece.source = piece.source.part(count, piece.source.size)

    def _fill(self, count: int) -> None:
        while not self._source_ended:
            # Small enough for all workers to have some of what is asked for.
            size = max(self._least, count // (2 * self._workers))
            if self._pending_size >= count + self._workers * size:
                return
            piece = self._read(size)
            if piece is not None:
                self._pending.append(piece)
                self._pending_size += piece.size
                self._number += piece.size

    def _read(self, size: int) -> _Piece | None:
        before = self._child.state()
        source: Block | None = None
        try:
            source = self._child.take(size)
            if source is None:
                self._source_ended = True
                return None
            made = self._start(source, self._number)
            self._least = self._fitting(source)
        except Exception as error:  # noqa: BLE001  # raised in its turn
            made = Future[Block]()
            made.set_exception(error)
            # A source that fails without moving on would fail for ever.
            self._source_ended = self._child.state() == before
        return _Piece(made, source, self._number, before, 0)

    def _fitting(self, block: Block) -> int:
        if not self._piece_bytes:
            return 1
        bytes_each = max(1, block.nbytes // block.size)
        return min(_LARGEST_PIECE, max(1, self._piece_bytes // bytes_each))

    def state(self) -> State:
        if self._pending:
            piece = self._pending[0]
            return [piece.number - piece.passed, piece.passed, piece.before]
        return [self._number, 0, self._child.state()]

    def restore(self, state: State) -> None:
        self._number, passed, child_state = state
        self._child.restore(child_state)
        while passed:
            # What has been given is not made again.
            block = self._child.take(passed)
            if block is None:
                return
            passed -= block.size
            self._number += block.size

    def close(self) -> None:
        for piece in self._pending:
            piece.made.cancel()
        self._child.close()
