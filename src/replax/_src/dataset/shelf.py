"""A shelf: what a thread makes ahead, and somebody else takes."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections import deque
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Shelf", "Source"]

# How long a thread waits before it looks whether it is still wanted.
_SLICE = 0.5

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Source(Protocol[T_co]):
    """What makes things, one after the other."""

    def take(self, count: int) -> T_co | None:
        """The next thing, of at most ``count`` elements; None at the end."""
        ...

    def state(self) -> Any:
        """The position, as a few numbers."""
        ...

    def close(self) -> None:
        """Releases threads and files."""
        ...


class Shelf(Generic[T]):
    """Things that have been made and not been taken yet; a thread makes more.

    The thread holds the shelf and nothing else: who takes from it stops it when it is
    not wanted any more.

    Args:
      source: Makes them.
      size: How many elements there is room for.
      bytes_limit: How many bytes; one thing may be made whatever its size.
      largest: How many elements are made at a time, so that the first are soon there.
    """

    def __init__(
        self,
        source: Source[T],
        size: int,
        *,
        bytes_limit: int | None = None,
        largest: int = 1,
    ) -> None:
        self._source = source
        self._size = size
        self._bytes_limit = bytes_limit
        self._largest = largest
        # Each with the state of the source before it; an error in place of a thing.
        self._things: deque[tuple[Any, Any]] = deque()
        self._count = 0
        self._bytes = 0
        self._changed = threading.Condition()
        self._stopped = False
        self._after = source.state()  # where the source is behind all things
        self._ended = False
        self._thread = threading.Thread(
            target=self._fill, name="replax-prefetch", daemon=True
        )
        _running.add(self)
        self._thread.start()

    def stop(self) -> None:
        """Tells the thread to end; it does so when it has made what it is making."""
        with self._changed:
            self._stopped = True
            self._things.clear()
            self._changed.notify_all()

    def join(self) -> None:
        """Waits for the thread to end, but not for long."""
        self._thread.join(_SLICE)

    def get(self) -> tuple[T, Any] | None:
        """The next thing, and the state of the source before it; None at the end.

        Raises:
          BaseException: What the source raised in its place.
        """
        with self._changed:
            while not self._things:
                if self._ended or self._stopped:
                    return None
                self._changed.wait(_SLICE)
            thing, before = self._things.popleft()
            if not isinstance(thing, BaseException):
                self._count -= thing.size
                self._bytes -= thing.nbytes
            self._changed.notify_all()
        if isinstance(thing, BaseException):
            raise thing
        return thing, before

    def state(self) -> Any:
        """Where the source was before the first of the things that are there."""
        with self._changed:
            return self._things[0][1] if self._things else self._after

    def _fill(self) -> None:
        try:
            while (room := self._room()) is not None:
                self._make(min(room, self._largest))
        finally:
            _running.discard(self)
            self._source.close()

    def _room(self) -> int | None:
        with self._changed:
            while not self._stopped and not self._ended:
                fits = self._bytes_limit is None or self._bytes < self._bytes_limit
                if self._count < self._size and (fits or not self._count):
                    return self._size - self._count
                self._changed.wait(_SLICE)
            return None

    def _make(self, count: int) -> None:
        before = self._source.state()
        thing: Any
        try:
            thing = self._source.take(count)
        except BaseException as error:  # noqa: BLE001  # raised where it is taken
            thing = error
        after = self._source.state()
        with self._changed:
            self._after = after
            if self._stopped:
                return
            if thing is None:
                self._ended = True
            elif isinstance(thing, BaseException):
                self._things.append((thing, before))
                # A source that fails without moving on would fail for ever.
                self._ended = after == before
            else:
                self._things.append((thing, before))
                self._count += thing.size
                self._bytes += thing.nbytes
            self._changed.notify_all()


_running: weakref.WeakSet[Shelf[Any]] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Before JAX is shut down: a thread may be computing with it."""
    shelves = list(_running)
    for shelf in shelves:
        shelf.stop()
    for shelf in shelves:
        shelf.join()
