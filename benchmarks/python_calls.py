"""How much of Replax's Python a warm compiled step passes through."""

from __future__ import annotations

import collections
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import blocks
import table
import training
from warm_step import PERCEPTRON

_ABOUT = 10


def python_calls() -> list[table.Row]:
    """Python calls of ours in a warm compiled step."""
    calls = blocks.in_a_process(_count)
    row = table.Row(
        "Python calls of ours in a warm compiled step",
        str(calls.total()),
        f"about {_ABOUT}",
        calls.total() / _ABOUT,
        1.20,
    )
    return [row]


def _count() -> collections.Counter[str]:
    step = training.replax(PERCEPTRON)
    for _ in range(3):
        step()
    import replax  # noqa: PLC0415 - in the process that measures

    package = str(Path(replax.__file__).parent) + os.sep
    calls: collections.Counter[str] = collections.Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package):
            place = code.co_filename.removeprefix(package)
            calls[f"{place}:{code.co_firstlineno} {code.co_qualname}"] += 1

    sys.setprofile(note)
    step()
    sys.setprofile(None)
    return calls


if __name__ == "__main__":
    for call, times in blocks.in_a_process(_count).most_common():
        print(f"{times:4} {call}")
    table.report(python_calls)
