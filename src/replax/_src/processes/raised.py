"""Exceptions on their way from one process to another.

Child processes load this file without the package around it (see program.py).
"""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["Raised", "describe"]


@dataclasses.dataclass(frozen=True, slots=True)
class Raised:
    """What is told about an exception.

    Attributes:
      name: Its class.
      text: What it says.
      traceback: Where it was raised, formatted.
      pickled: The exception, unless it cannot be pickled.
      stage: What the process was at, if it was not the function: what it rebuilt.
    """

    name: str
    text: str
    traceback: str
    pickled: bytes | None = None
    stage: str = ""

    def body(self) -> bytes:
        """Pickled, in types that any process knows."""
        fields = (self.name, self.text, self.traceback, self.pickled, self.stage)
        return pickle.dumps(fields, protocol=5)

    @classmethod
    def of_body(cls, body: bytes | bytearray) -> Raised:
        """What :meth:`body` was made of."""
        return cls(*pickle.loads(body))  # noqa: S301  # from a process of ours

    def rebuilt(self) -> Exception | None:
        """The exception, made anew; None if that cannot be done."""
        if self.pickled is not None:
            # Not all exceptions can be made again from their arguments.
            with contextlib.suppress(Exception):
                error = pickle.loads(self.pickled)  # noqa: S301  # from ours
                same = type(error).__qualname__ == self.name
                if same and isinstance(error, Exception):
                    return error
        return None


def describe(
    error: BaseException, dumps: Callable[[Any], bytes], stage: str = ""
) -> Raised:
    """What is told about ``error``, which was caught in the running function.

    Args:
      error: The exception.
      dumps: Pickles it.
      stage: What the process was at, if it was not the function.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # of a user's class
        text = "<no text: its __str__ raises>"
    # The first frame is ours.
    frames = error.__traceback__.tb_next if error.__traceback__ is not None else None
    lines = traceback.format_exception(type(error), error, frames)
    pickled = None
    if isinstance(error, Exception):
        # Others, such as SystemExit, are for this process.
        with contextlib.suppress(Exception):
            pickled = dumps(error)
    return Raised(type(error).__qualname__, text, "".join(lines), pickled, stage)
