"""The part of a stream that is in memory."""

from __future__ import annotations

from replax._src.dataset.files.stream import BrokenStreamError, Stream

__all__ = ["Buffer"]

# However long a record says it is, memory is taken for what has been read.
_MOST_AT_ONCE = 1 << 24


class Buffer:
    """Bytes of a stream, from where the next record starts.

    Attributes:
      data: The bytes in memory.
      start: Where in ``data`` the next record starts.
      broken: Why the stream ends before its end, if it does.
    """

    def __init__(self, stream: Stream, chunk: int) -> None:
        self._stream = stream
        self._chunk = chunk
        self._clear()

    def _clear(self) -> None:
        self.data = b""
        self.start = 0
        self.broken: str | None = None
        self._ended = False

    @property
    def offset(self) -> int:
        """Where the next record starts in the stream."""
        return self._stream.offset - len(self.data) + self.start

    def fill(self, size: int) -> int:
        """Reads on until ``size`` bytes are there, or all; how many there are."""
        have = len(self.data) - self.start
        if have >= size or self._ended:
            return have
        pieces = [self.data[self.start :]]
        while have < size and not self._ended:
            wanted = max(self._chunk, min(size - have, _MOST_AT_ONCE))
            try:
                piece = self._stream.read(wanted)
            except BrokenStreamError as error:
                self.broken = str(error)
                piece = b""
            self._ended = not piece
            pieces.append(piece)
            have += len(piece)
        self.data = b"".join(pieces)
        self.start = 0
        return have

    def can_hold(self, size: int) -> bool:
        """Whether ``size`` bytes may still be there, as far as is known."""
        left = self._stream.most_left()
        return left is None or size <= len(self.data) - self.start + left

    def seek(self, offset: int) -> None:
        """Goes to an offset of the stream; ``broken`` if it is not there."""
        self._clear()
        try:
            self._stream.seek(offset)
        except BrokenStreamError as error:
            self.broken = str(error)
            self._ended = True
