"""Where the running code is: the only ambient state of the library.

Each thread has a stack of places. A place is made by entering a strategy's scope, by
running a replica's function, or by a function that is being traced. Everything else
is handed down as arguments.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Generator
from typing import Any, Protocol

import jax

from replax._src.topology.topology import Topology

__all__ = [
    "Frame",
    "HostValueError",
    "Place",
    "ambient",
    "current",
    "current_frame",
    "enter",
    "enter_frame",
    "enter_host_program",
    "in_host_program",
    "is_inside",
    "set_installed",
]


class HostValueError(Exception):
    """A program was given something that only Python can use, such as an iterator."""


class Frame(Protocol):
    """A function that is being traced: where variables are read and written.

    A frame of a whole program sees what a variable stores; the frame of a step that
    runs on many replicas sees what one replica has of it.
    """

    # Whether this is the frame of one replica's step.
    per_replica: bool

    def read(self, variable: Any) -> tuple[jax.Array, ...]:
        """The variable's present leaves, as tracers."""
        ...

    def write(self, variable: Any, leaves: tuple[jax.Array, ...]) -> None:
        """Makes ``leaves`` the variable's value for what follows."""
        ...

    def check_unreduced(self, variable: Any, leaves: tuple[jax.Array, ...]) -> None:
        """Notes that replicas assign these leaves without any aggregation."""
        ...

    def creates_variable(self) -> None:
        """Refuses a variable that would be made anew at every trace."""
        ...

    def initialise(self, variable: Any, leaves: tuple[jax.Array, ...]) -> None:
        """Takes these tracers for the initial value of a new variable."""
        ...

    def gather_total(self, size: int) -> int:
        """How many rows all replicas have, when this one has ``size``."""
        ...

    def is_one_object(self, value: Any) -> bool:
        """Whether this stands for one object that all replicas have."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """One entry of the stack.

    Attributes:
      strategy: Whose scope this is; never looked into below the strategies.
      topology: The strategy's replicas.
      replica: The replica context of a running step, or None between steps.
      exchange: Where the replicas of an eager run meet, if this is one.
      index: Which local replica this is, if this is an eager run.
      may_diverge: Whether replicas may assign unequal values without aggregation.
      is_default: Whether this is the scope of the default strategy, to which no
        variable belongs.
    """

    strategy: Any
    topology: Topology
    replica: Any = None
    exchange: Any = None
    index: int | None = None
    may_diverge: bool = False
    is_default: bool = False


class _Ambient(threading.local):
    def __init__(self) -> None:
        self.places: list[Place] = []
        self.installed: Place | None = None
        self.frame: Frame | None = None
        self.host_program: bool = False


ambient = _Ambient()


def current() -> Place | None:
    """The innermost place, or None outside of every scope."""
    places = ambient.places
    return places[-1] if places else ambient.installed


def is_inside() -> bool:
    """Whether the code runs in a ``with`` block that made a place."""
    return bool(ambient.places)


def set_installed(place: Place | None) -> None:
    """Sets the place that holds outside of every ``with`` block of this thread."""
    ambient.installed = place


@contextlib.contextmanager
def enter(place: Place) -> Generator[None]:
    """Makes ``place`` the current one."""
    ambient.places.append(place)
    try:
        yield
    finally:
        ambient.places.pop()


def current_frame() -> Frame | None:
    """The function being traced by us on this thread, or None."""
    return ambient.frame


@contextlib.contextmanager
def enter_frame(frame: Frame | None) -> Generator[None]:
    """Makes ``frame`` the one that variables are read from and written to."""
    before = ambient.frame
    ambient.frame = frame
    try:
        yield
    finally:
        ambient.frame = before


def in_host_program() -> bool:
    """Whether a function runs as Python because it cannot be compiled whole."""
    return ambient.host_program


@contextlib.contextmanager
def enter_host_program() -> Generator[None]:
    """Marks a function that runs as Python, and compiles each ``run`` in it."""
    before = ambient.host_program
    ambient.host_program = True
    try:
        yield
    finally:
        ambient.host_program = before
