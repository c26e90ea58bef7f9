"""What datasets of other libraries have in common when they are read in order."""

from __future__ import annotations

import abc
import dataclasses
import functools
import types
from collections.abc import Iterator
from typing import Any

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.block import Block
from replax._src.dataset.fitting import fitted
from replax._src.dataset.foreign.states import packed, unpacked
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec

__all__ = ["InOrder", "Reader", "noted"]


def noted(error: BaseException, source: str, number: int) -> None:
    """Adds to an error of another library which element was being read."""
    error.add_note(f"(raised by {source}, for element {number})")


class Reader:
    """One pass over a source.

    Args:
      iterator: Gives its elements.
    """

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator

    def next(self) -> Any:
        """The next element; a StopIteration at the end."""
        return next(self.iterator)

    def skip(self, count: int) -> int:
        """Leaves elements out, as the first thing that is done; says how many."""
        for skipped in range(count):
            try:
                self.next()
            except StopIteration:
                return skipped
        return count

    def state(self) -> Any:
        """The position as the source has it; None if it has none."""
        return None

    def restore(self, state: Any) -> None:
        """Moves to a position of the source, as the first thing that is done."""
        raise AssertionError(state)

    def close(self) -> None:
        """Releases what the source holds for this pass."""
        if isinstance(self.iterator, types.GeneratorType):
            self.iterator.close()


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class InOrder(Node):
    """A source of another library that is read from its beginning.

    Attributes:
      source: It.
      size: How many elements it says it has.
      signature: What its elements are said to look like; None if the first of them is
        to be looked at.
    """

    inputs = ()
    source: Any
    size: int = UNKNOWN
    signature: ElementSpec | None = None

    @abc.abstractmethod
    def begin(self) -> Reader:
        """Starts a pass."""

    def host(self, element: Any) -> Any:
        """An element as NumPy arrays, numbers, and strings."""
        return element

    def cardinality(self) -> int:
        return self.size

    @property
    def pure(self) -> bool:
        return False

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        if self.signature is not None:
            return self.signature
        return self.first_spec()

    def first_spec(self) -> ElementSpec:
        """The spec of the first element."""
        cursor = self.open((0,))
        try:
            block = cursor.take(1)
        finally:
            cursor.close()
        if block is None:
            msg = (
                f"{self.label()} gives no elements, so that their shape is not known; "
                f"say it with as_dataset(..., element_spec=replax.TensorSpec(...))"
            )
            raise ValueError(msg)
        return ElementSpec.of(block.element(0))

    def open(self, pass_: Pass) -> Cursor:
        del pass_
        return _InOrderCursor(self)


class _InOrderCursor(Cursor):
    """Reads a source, and begins anew where it was if that fails.

    Its position is a position of the source, where it has such, and how many elements
    were read behind it. An element that the source failed at is not counted: it is
    what is read next.
    """

    def __init__(self, node: InOrder) -> None:
        self._node = node
        self._reader: Reader | None = None
        self._number = 0  # of the next element to give
        self._read: list[Any] = []  # and not given
        self._error: Exception | None = None  # to be raised behind these
        self._ended = False
        # A position of the source, and the number of the element at it.
        self._mark: tuple[Any, int] = (None, 0)

    def take(self, count: int) -> Block | None:
        self._read_up_to(count)
        if not self._read:
            error, self._error = self._error, None
            if error is not None:
                raise error
            return None
        given = self._read[:count]
        block = (
            Block.of_element(given[0]) if len(given) == 1 else Block.of_elements(given)
        )
        del self._read[:count]
        self._number += len(given)
        return block

    def _read_up_to(self, count: int) -> None:
        while len(self._read) < count and not self._ended and self._error is None:
            try:
                if self._reader is None:
                    self._reader = self._started()
                self._read_one(self._reader)
            except Exception as error:  # noqa: BLE001  # raised in its turn
                self._forget()
                noted(error, self._node.label(), self._reached)
                self._error = error
            except BaseException:
                # An interrupt leaves it open how far the source has come.
                self._forget()
                raise

    @property
    def _reached(self) -> int:
        return self._number + len(self._read)

    def _started(self) -> Reader:
        reader = self._node.begin()
        state, number = self._mark
        if state is not None:
            reader.restore(unpacked(state))
        wanted = self._reached - number
        skipped = reader.skip(wanted) if wanted else 0
        if skipped < wanted:
            msg = (
                f"{self._node.label()} ends after {number + skipped} elements, and the "
                f"position to go on from is behind {self._reached}; give the source "
                f"that the position was saved with"
            )
            raise InvalidArgumentError(msg)
        return reader

    def _read_one(self, reader: Reader) -> None:
        node = self._node
        try:
            raw = reader.next()
        except StopIteration:
            self._check_length(ended=True)
            self._ended = True
            return
        self._check_length(ended=False)
        element = node.host(raw)
        if node.signature is not None:
            number = self._reached
            element = fitted(
                element, node.signature, number, node.label(), "element_spec"
            )
        self._read.append(element)

    def _check_length(self, *, ended: bool) -> None:
        size, found = self._node.size, self._reached
        if size < 0 or (found >= size if ended else found < size):
            return
        msg = (
            f"{self._node.label()} says that it has {size} elements, and "
            f"{f'ends after {found}' if ended else f'gives more than {found}'}; "
            f"correct its length, or wrap it in a function that gives it: "
            f"as_dataset(lambda: source)"
        )
        raise InvalidArgumentError(msg)

    def _forget(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def state(self) -> State:
        if self._reader is not None and not self._read and self._error is None:
            state = self._reader.state()
            if state is not None:
                self._mark = (packed(state), self._number)
        return [*self._mark, self._number, int(self._ended and not self._read)]

    def restore(self, state: State) -> None:
        mark, marked, self._number, ended = state
        self._mark = (mark, marked)
        self._ended = bool(ended)
        if not self._ended:
            self._reader = self._started()

    def close(self) -> None:
        self._forget()
