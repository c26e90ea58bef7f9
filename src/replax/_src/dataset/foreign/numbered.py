"""What datasets of other libraries have in common when they are read by number."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from replax._src.core.errors import InvalidArgumentError
from replax._src.dataset.block import Block, Index
from replax._src.dataset.fitting import fitted
from replax._src.dataset.foreign.reading import noted
from replax._src.dataset.index import as_array
from replax._src.dataset.node import Cursor, IndexCursor, Node, Pass
from replax._src.dataset.structure import ElementSpec

__all__ = ["ByNumber"]


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ByNumber(Node):
    """A source of another library that has its elements by their numbers.

    Attributes:
      source: It.
      size: How many elements it says it has.
      signature: What its elements are said to look like; None if the first of them is
        to be looked at.
    """

    inputs = ()
    source: Any
    size: int
    signature: ElementSpec | None = None

    def host(self, element: Any) -> Any:
        """An element as NumPy arrays, numbers, and strings."""
        return element

    @abc.abstractmethod
    def read(self, numbers: Sequence[int], pass_: Pass) -> Sequence[Any]:
        """The elements of the source with these numbers."""

    def cardinality(self) -> int:
        return self.size

    @property
    def indexed(self) -> bool:
        return True

    @property
    def pure(self) -> bool:
        return False

    def spec(self) -> ElementSpec:
        return self._spec

    @functools.cached_property
    def _spec(self) -> ElementSpec:
        if self.signature is not None:
            return self.signature
        if self.size == 0:
            msg = (
                f"{self.label()} has no elements, so that their shape is not known; "
                f"say it with as_dataset(..., element_spec=replax.TensorSpec(...))"
            )
            raise ValueError(msg)
        return ElementSpec.of(self.rows(range(1), (0,)).element(0))

    def open(self, pass_: Pass) -> Cursor:
        return IndexCursor(self, pass_)

    def rows(self, index: Index, pass_: Pass) -> Block:
        numbers: list[int] = as_array(index).tolist()
        found = self.read(numbers, pass_)
        if len(found) != len(numbers):
            msg = (
                f"{self.label()} was asked for {len(numbers)} elements at once, and "
                f"gave {len(found)}; correct its __getitems__"
            )
            raise InvalidArgumentError(msg)
        elements = [
            self._checked(element, number)
            for element, number in zip(found, numbers, strict=True)
        ]
        return Block.of_elements(elements)

    def _checked(self, element: Any, number: int) -> Any:
        return self.guarded(self._fitted, number, element, number)

    def _fitted(self, element: Any, number: int) -> Any:
        host = self.host(element)
        if self.signature is None:
            return host
        return fitted(host, self.signature, number, self.label(), "element_spec")

    def read_together(
        self, read: Callable[[list[int]], Sequence[Any]], numbers: Sequence[int]
    ) -> Sequence[Any]:
        """What ``read`` gives for all numbers at once.

        If it fails, they are read one by one, to say which of them it is.
        """
        try:
            return read(list(numbers))
        except Exception:
            for number in numbers:
                self.guarded(read, number, [number])
            raise

    def guarded(
        self, function: Callable[..., Any], number: int, *arguments: Any
    ) -> Any:
        """What the function gives; its errors say that they are of this source.

        Args:
          function: Reads an element.
          number: The number of the element.
          *arguments: What the function is called with.
        """
        try:
            return function(*arguments)
        except IndexError as error:
            msg = (
                f"{self.label()} says that it has {self.size} elements, and element "
                f"{number} is not there ({type(error).__name__}: {error}); correct its "
                f"length"
            )
            raise InvalidArgumentError(msg) from error
        except StopIteration as error:
            # Raised out of an iterator it would be taken for the end of the data.
            msg = f"{self.label()} raised StopIteration for element {number}"
            raise RuntimeError(msg) from error
        except Exception as error:
            noted(error, self.label(), number)
            raise
