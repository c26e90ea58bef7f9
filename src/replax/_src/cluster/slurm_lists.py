"""The short forms in which Slurm writes hosts and counts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

__all__ = ["counts_in", "hosts_in"]

# A name is made of text and of ranges in brackets: rack[0-1]node[01-12,20]-ib.
_NAME = re.compile(r"(?:[^\s,\[\]]|\[[^\[\]]*\])+")
_PIECE = re.compile(r"\[(?P<ranges>[^\]]*)\]|(?P<text>[^\[]+)")
_RANGE = re.compile(r"(?P<first>\d+)(?:-(?P<last>\d+))?")
_COUNT = re.compile(r"(?P<count>\d+)(?:\(x(?P<times>\d+)\))?")

# More than Slurm can manage; what is longer is a mistake, and would fill the memory.
_MOST = 1 << 20


def hosts_in(text: str, variable: str) -> list[str]:
    """The hosts of a list such as ``n[08-10,12],login``, in its order.

    Args:
      text: The list.
      variable: Where it was read, for errors.
    """
    names = _NAME.findall(text)
    if not names or ",".join(names) != text:
        raise _wrong(text, variable)
    hosts: list[str] = []
    for name in names:
        pieces = [
            [piece["text"]]
            if piece["text"]
            else list(_numbers(piece["ranges"], text, variable))
            for piece in _PIECE.finditer(name)
        ]
        hosts += map("".join, itertools.product(*pieces))
    return hosts


def _numbers(ranges: str, text: str, variable: str) -> Iterator[str]:
    """The numbers of ``08-10,12``, as wide as they are written."""
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise _wrong(text, variable)
        first, last = match["first"], match["last"] or match["first"]
        if not 0 <= int(last) - int(first) < _MOST:
            raise _wrong(text, variable)
        for number in range(int(first), int(last) + 1):
            yield f"{number:0{len(first)}}"


def counts_in(text: str, variable: str) -> list[int]:
    """The numbers of a list such as ``2(x3),1``, which is 2, 2, 2, 1.

    Args:
      text: The list.
      variable: Where it was read, for errors.
    """
    counts: list[int] = []
    for part in text.split(","):
        match = _COUNT.fullmatch(part)
        if match is None or int(match["times"] or 1) > _MOST:
            msg = (
                f"{variable} is {text!r}, and has to be counts for each node, such as "
                f"'2(x3),1'"
            )
            raise ValueError(msg)
        counts += [int(match["count"])] * int(match["times"] or 1)
    return counts


def _wrong(text: str, variable: str) -> ValueError:
    return ValueError(
        f"{variable} is {text!r}, and has to be a list of hosts, such as "
        f"'n[08-10,12],login'"
    )
