"""Ctrl-C at each point of a piece of code, one after the other.

Python looks for signals when a call is over, when a function begins and when a loop
goes back. At the n-th of these points in code of the library it is interrupted here,
for each n, until there is none left: no point is left out, whatever the machine does.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import replax

__all__ = ["interrupted_at_each_point"]

_SOURCES = str(Path(replax.__file__).parent / "_src")
_LOOKING = ("CALL", "RESUME", "JUMP_BACKWARD")


def interrupted_at_each_point(
    act: Callable[[], Any], look: Callable[[], None], files: tuple[str, ...]
) -> int:
    """Interrupts ``act`` at each point of some files.

    Args:
      act: What is interrupted. It has run before, so that nothing is compiled in it.
      look: Called after each interruption; checks what it has left behind.
      files: Where to interrupt: the ends of paths below ``replax/_src``.

    Returns:
      At how many points it was interrupted.
    """
    point = 0
    while _interrupted(act, point, files):
        look()
        point += 1
    return point


def _interrupted(act: Callable[[], Any], point: int, files: tuple[str, ...]) -> bool:
    left = point
    last: dict[FrameType, str] = {}

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        name = frame.f_code.co_filename
        if not name.startswith(_SOURCES) or not name.endswith(files):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            before = last.get(frame, "")
            last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            left -= before.startswith(_LOOKING)
            if left == -1:
                raise KeyboardInterrupt
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(outer)
        last.clear()
    return False
