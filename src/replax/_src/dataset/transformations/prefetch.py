"""``prefetch``: elements that a thread makes while earlier ones are used."""

from __future__ import annotations

import atexit
import dataclasses
import threading
import weakref
from collections import deque

from replax._src.dataset.block import Block, Index
from replax._src.dataset.node import Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["Prefetch"]

# How long a thread waits before it looks whether it is still wanted.
_SLICE = 0.5

# At most so many elements at a time, so that the first of them are soon at hand.
_LARGEST_PIECE = 64


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Prefetch(Node):
    """The same elements, of which ``buffer_size`` are made ahead."""

    child: Node
    buffer_size: int

    def label(self) -> str:
        return f"prefetch({self.buffer_size})"

    def identity(self) -> str:
        return "prefetch()"

    def spec(self) -> ElementSpec:
        return self.child.spec()

    def cardinality(self) -> int:
        return self.child.cardinality()

    @property
    def indexed(self) -> bool:
        return self.child.indexed

    @property
    def pure(self) -> bool:
        return False

    @property
    def ahead(self) -> bool:
        return True

    def rows(self, index: Index, pass_: Pass) -> Block:
        return self.child.rows(index, pass_)

    def open(self, pass_: Pass) -> Cursor:
        # Functions of users are called for one element after the other: the first one
        # is at hand soon, and one that cannot be made takes no others with it.
        piece = _LARGEST_PIECE if self.child.pure else 1
        return PrefetchCursor(self.child.open(pass_), self.buffer_size, piece)


class PrefetchCursor(Cursor):
    """Its position is that of the source before the oldest elements at hand."""

    def __init__(self, child: Cursor, buffer_size: int, piece: int = 1) -> None:
        self._child = child
        self._buffer_size = buffer_size
        self._piece = piece
        self._shelf: _Shelf | None = None
        self._current: Block | None = None
        self._given = 0
        self._before: State = None

    def take(self, count: int) -> Block | None:
        if self._shelf is None:
            self._shelf = self._start()
        while self._current is None:
            piece = self._shelf.get()
            if piece is None:
                return None
            made, self._before = piece
            if isinstance(made, BaseException):
                raise made
            self._current = made
            self._given = 0
        part = self._current.part(self._given, self._given + count)
        self._given += part.size
        if self._given == self._current.size:
            self._current = None
        return part

    def _start(self) -> _Shelf:
        shelf = _Shelf(self._child, self._buffer_size, self._piece)
        # The thread holds the shelf, and not this cursor: when nobody has the cursor
        # any more, the thread is told to stop.
        weakref.finalize(self, shelf.stop)
        shelf.start()
        return shelf

    def state(self) -> State:
        if self._current is not None:
            return [self._given, self._before]
        if self._shelf is None:
            return [0, self._child.state()]
        return [0, self._shelf.state()]

    def restore(self, state: State) -> None:
        given, child_state = state
        self._child.restore(child_state)
        while given:
            block = self._child.take(given)
            if block is None:
                return
            given -= block.size

    def close(self) -> None:
        if self._shelf is not None:
            self._shelf.stop()
        else:
            self._child.close()


class _Shelf:
    """What has been made and not used yet; a thread fills it."""

    def __init__(self, source: Cursor, size: int, piece: int) -> None:
        self._source = source
        self._size = size
        self._piece = piece
        # Each with the state of the source before it.
        self._pieces: deque[tuple[Block | BaseException, State]] = deque()
        self._count = 0
        self._changed = threading.Condition()
        self._stopped = False
        self._after = source.state()  # where the source is behind all pieces
        self._ended = False

    def start(self) -> None:
        self._thread = threading.Thread(
            target=self._fill, name="replax-prefetch", daemon=True
        )
        with _running_lock:
            _running.add(self)
        self._thread.start()

    def join(self) -> None:
        """Waits for the thread to end, but not for long."""
        self._thread.join(_SLICE)

    def stop(self) -> None:
        """Tells the thread to end; it does so when it has made what it is making."""
        with self._changed:
            self._stopped = True
            self._pieces.clear()
            self._changed.notify_all()

    def get(self) -> tuple[Block | BaseException, State] | None:
        """The next elements, or an error, and the state before; None at the end."""
        with self._changed:
            while not self._pieces:
                if self._ended or self._stopped:
                    return None
                self._changed.wait(_SLICE)
            piece = self._pieces.popleft()
            self._count -= _size(piece[0])
            self._changed.notify_all()
            return piece

    def state(self) -> State:
        """Where the source was before the first of the pieces."""
        with self._changed:
            return self._pieces[0][1] if self._pieces else self._after

    def _fill(self) -> None:
        try:
            while (room := self._room()) is not None:
                self._put(min(room, self._piece))
        finally:
            with _running_lock:
                _running.discard(self)
            self._source.close()

    def _room(self) -> int | None:
        with self._changed:
            while not self._stopped and not self._ended:
                if self._count < self._size:
                    return self._size - self._count
                self._changed.wait(_SLICE)
            return None

    def _put(self, count: int) -> None:
        before = self._source.state()
        made: Block | BaseException | None
        try:
            made = self._source.take(count)
        except BaseException as error:  # noqa: BLE001  # raised where it is used
            made = error
        after = self._source.state()
        with self._changed:
            self._after = after
            if self._stopped:
                return
            if made is None:
                self._ended = True
            else:
                self._pieces.append((made, before))
                self._count += _size(made)
                # A source that fails without moving on would fail for ever.
                if isinstance(made, BaseException) and after == before:
                    self._ended = True
            self._changed.notify_all()


def _size(made: Block | BaseException) -> int:
    return 1 if isinstance(made, BaseException) else made.size


_running: set[_Shelf] = set()
_running_lock = threading.Lock()


@atexit.register
def _stop_all() -> None:
    """Before JAX is shut down: a thread may be computing with it."""
    with _running_lock:
        shelves = list(_running)
    for shelf in shelves:
        shelf.stop()
    for shelf in shelves:
        shelf.join()
