"""Elements that a generator of users makes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from replax._src.dataset.block import Block
from replax._src.dataset.fitting import fitted
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["Generated"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Generated(Node):
    """The elements of ``make()``, which is called for every pass.

    Attributes:
      make: Gives an iterable.
      signature: What its elements have to look like; None if they say themselves.
      size: How many there are, where that is known.
      name: How the source is called in the plan.
    """

    inputs = ()
    make: Callable[[], Iterable[Any]]
    signature: ElementSpec | None
    size: int = UNKNOWN
    name: str = "from_generator"

    def label(self) -> str:
        return f"{self.name}({getattr(self.make, '__name__', 'function')})"

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        if self.signature is not None:
            return self.signature
        for element in self.make():
            return ElementSpec.of(element)
        msg = (
            f"{self.label()} gives no elements, so that their shape is not known; say "
            f"it with output_signature=replax.TensorSpec(shape, dtype)"
        )
        raise ValueError(msg)

    def cardinality(self) -> int:
        return self.size

    @property
    def pure(self) -> bool:
        return False

    def open(self, pass_: Pass) -> Cursor:
        del pass_
        return _GeneratedCursor(self)


class _GeneratedCursor(Cursor):
    """Its position is how many elements it has given; these are made again."""

    def __init__(self, node: Generated) -> None:
        self._node = node
        self._iterator: Iterator[Any] | None = None
        self._number = 0
        self._ended = False
        self._failure: Exception | None = None  # of the element behind those given

    def take(self, count: int) -> Block | None:
        if self._ended:
            return None
        iterator = self._started()
        elements: list[Any] = []
        try:
            while len(elements) < count:
                element = self._next(iterator, self._number + len(elements))
                elements.append(self._checked(element, self._number + len(elements)))
        except StopIteration:
            self._ended = not elements
        except Exception as error:
            if not elements:
                self._number += 1
                raise
            # Those before it are given first.
            self._failure = error
        self._number += len(elements)
        return Block.of_elements(elements) if elements else None

    def _next(self, iterator: Iterator[Any], number: int) -> Any:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        try:
            return next(iterator)
        except StopIteration:
            raise
        except Exception as error:
            error.add_note(f"(raised by {self._node.label()}, for element {number})")
            raise

    def _started(self) -> Iterator[Any]:
        if self._iterator is None:
            self._iterator = self._iterable()
        return self._iterator

    def _iterable(self) -> Iterator[Any]:
        made = self._node.make()
        try:
            return iter(made)
        except TypeError:
            msg = (
                f"{self._node.label()} gave {made!r}, which cannot be iterated over; "
                f"give a function that returns a generator or a list, such as a "
                f"function with yield in it"
            )
            raise TypeError(msg) from None

    def _checked(self, element: Any, number: int) -> Any:
        signature = self._node.signature
        if signature is None:
            return element
        return fitted(element, signature, number, self._node.label())

    def state(self) -> State:
        return [self._number, int(self._ended)]

    def restore(self, state: State) -> None:
        self._number, ended = state
        self._ended = bool(ended)
        if not self._ended:
            iterator = self._started()
            for _ in range(self._number):
                # An element that could not be made has been left out before.
                with contextlib.suppress(Exception):
                    next(iterator)

    def close(self) -> None:
        close = getattr(self._iterator, "close", None)
        if close is not None:
            close()
