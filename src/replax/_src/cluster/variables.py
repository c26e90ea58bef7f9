"""How environment variables are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = [
    "are_not_set",
    "number_in",
    "number_or_none",
    "port_in",
    "present",
    "size_in",
]


def present(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Those of some variables that are set, with their values."""
    return {name: environ[name] for name in names if name in environ}


def are_not_set(seen: Mapping[str, str], needed: Iterable[str]) -> str:
    """Which of the needed variables are not set, as a sentence; empty if all are."""
    missing = [name for name in needed if name not in seen]
    if not missing:
        return ""
    *others, last = missing
    names = f"{', '.join(others)} and {last}" if others else last
    return f"{names} {'are' if others else 'is'} not set"


def number_in(environ: Mapping[str, str], name: str, below: int | None = None) -> int:
    """The number in a variable.

    Args:
      environ: The variables.
      name: The one that is read.
      below: The number of processes that it counts, if there is such a bound.

    Raises:
      ValueError: It is no number, or too large a one.
    """
    text = environ[name]
    if not (text.isascii() and text.strip().isdecimal()):
        msg = f"{name} is {text!r}, and has to be a number, counted from 0"
        raise ValueError(msg)
    if below is not None and int(text) >= below:
        msg = (
            f"{name} is {text}, and there are {below} processes; it has to be from 0 "
            f"to {below - 1}"
        )
        raise ValueError(msg)
    return int(text)


def number_or_none(environ: Mapping[str, str], name: str) -> int | None:
    """The number in a variable; None if it is not set."""
    return number_in(environ, name) if name in environ else None


def size_in(environ: Mapping[str, str], name: str) -> int:
    """The number of processes in a variable."""
    size = number_in(environ, name)
    if size == 0:
        msg = f"{name} is 0, and counts this process too; it has to be 1 or more"
        raise ValueError(msg)
    return size


def port_in(environ: Mapping[str, str], name: str) -> int:
    """The port in a variable."""
    port = number_in(environ, name)
    if not 0 < port < 65536:
        msg = f"{name} is {port}, which is no port; choose one from 1 to 65535"
        raise ValueError(msg)
    return port
