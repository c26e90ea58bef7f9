"""What one detector says, and how detectors read variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from replax._src.cluster.resolver import ClusterResolver
from replax._src.core.errors import InvalidArgumentError

__all__ = ["Verdict", "number_in", "present", "sentence_of_missing"]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a detector found.

    Attributes:
      name: The detector, as people call what it looks for: ``"Slurm"``.
      why: What it went by, or why it declined.
      variables: The variables of its kind that are set.
      resolver: The cluster; None if it declined.
    """

    name: str
    why: str
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    resolver: ClusterResolver | None = None


def present(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Those of some variables that are set, with their values."""
    return {name: environ[name] for name in names if name in environ}


def sentence_of_missing(seen: Mapping[str, str], needed: Iterable[str]) -> str | None:
    """Which of the needed variables are not set; None if all are."""
    missing = [name for name in needed if name not in seen]
    if not missing:
        return None
    are = "is" if len(missing) == 1 else "are"
    return f"{', '.join(missing)} {are} not set"


def number_in(environ: Mapping[str, str], name: str, below: int | None = None) -> int:
    """The number in a variable.

    Args:
      environ: The variables.
      name: The one that is read.
      below: What it has to be less than, if there is a bound.

    Raises:
      InvalidArgumentError: It is no number, or too large a one.
    """
    text = environ[name]
    if not text.strip().isdecimal():
        msg = f"{name} is {text!r}, and has to be a number, counted from 0"
        raise InvalidArgumentError(msg)
    if below is not None and int(text) >= below:
        msg = (
            f"{name} is {text}, and there are {below} processes; it has to be from 0 "
            f"to {below - 1}"
        )
        raise InvalidArgumentError(msg)
    return int(text)
