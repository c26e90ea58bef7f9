"""Reading an indexed plan element by element, in pieces of many."""

from __future__ import annotations

from replax._src.dataset.block import Block
from replax._src.dataset.node import Cursor, Node, Pass, State

__all__ = ["PieceCursor"]

_PIECE_BYTES = 1 << 16
_LARGEST_PIECE = 256


class PieceCursor(Cursor):
    """Reads ahead a little; for plans that run no code of users, so nobody sees it.

    Its position is the number of the next element.
    """

    def __init__(self, node: Node, pass_: Pass) -> None:
        self._node = node
        self._pass = pass_
        self._end = node.cardinality()
        self._next = 0
        self._piece: Block | None = None
        self._place = 0  # of the next element in the piece
        self._piece_size = 1

    def take(self, count: int) -> Block | None:
        if self._piece is None:
            self._piece = self._read(max(count, self._piece_size))
            self._place = 0
            if self._piece is None:
                return None
        part = self._piece.part(self._place, self._place + count)
        self._place += part.size
        self._next += part.size
        if self._place == self._piece.size:
            self._piece = None
        return part

    def _read(self, count: int) -> Block | None:
        stop = self._next + count
        if 0 <= self._end < stop:
            stop = self._end
        if stop <= self._next:
            return None
        try:
            piece = self._node.rows(range(self._next, stop), self._pass)
        except Exception:
            if stop - self._next == 1:
                self._next = stop  # the next call goes on behind it
                raise
            # One of them cannot be made: those before it are given first.
            return self._read(1)
        if self._piece_size == 1:
            bytes_each = max(1, piece.nbytes // piece.size)
            fitting = max(1, _PIECE_BYTES // bytes_each)
            self._piece_size = min(_LARGEST_PIECE, fitting)
        return piece

    def state(self) -> State:
        return self._next

    def restore(self, state: State) -> None:
        self._next = state
        self._piece = None
