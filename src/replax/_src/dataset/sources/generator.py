"""Elements that a generator of users makes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from replax._src.core.errors import InvalidArgumentError
from replax._src.core.specs import TensorSpec
from replax._src.dataset.block import Block
from replax._src.dataset.node import UNKNOWN, Cursor, Node, Pass, State
from replax._src.dataset.structure import ElementSpec, as_leaf, leaf_names

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
                element = self._next(iterator)
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

    def _next(self, iterator: Iterator[Any]) -> Any:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return next(iterator)

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
        try:
            leaves = signature.treedef.flatten_up_to(element)
        except (ValueError, TypeError):
            msg = (
                f"element {number} of {self._node.label()} is {element!r}, and its "
                f"output_signature says {signature.tree()}; yield what the signature "
                f"says, or change it"
            )
            raise TypeError(msg) from None
        return signature.treedef.unflatten(
            [
                self._fitted(leaf, position, number)
                for position, leaf in enumerate(leaves)
            ]
        )

    def _fitted(self, value: Any, position: int, number: int) -> Any:
        signature = self._node.signature
        assert signature is not None
        spec: TensorSpec = signature.leaves[position]
        leaf = as_leaf(value)
        fitted = _converted(leaf, value, spec)
        if fitted is None or not spec.shape.is_compatible_with(np.shape(fitted)):
            name = leaf_names(signature.treedef)[position]
            where = f" in {name}" if name else ""
            kind = getattr(leaf, "dtype", type(leaf).__name__)
            msg = (
                f"element {number} of {self._node.label()} has {kind}"
                f"{list(np.shape(leaf))}{where}, and its output_signature says "
                f"{spec}; yield what the signature says, or change it"
            )
            raise InvalidArgumentError(msg)
        return fitted

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


def _converted(leaf: Any, value: Any, spec: TensorSpec) -> Any:
    """The leaf in the dtype of the spec; None if that would change its value."""
    if isinstance(leaf, (bytes, str)) or leaf.dtype.kind in "USO":
        return leaf if spec.dtype.kind in "USO" else None
    if leaf.dtype == spec.dtype:
        return leaf
    if isinstance(value, (np.ndarray, np.generic)) and not np.can_cast(
        leaf.dtype, spec.dtype, "same_kind"
    ):
        return None
    if spec.dtype.kind in "USO":
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        fitted = np.asarray(leaf).astype(spec.dtype)
    if leaf.dtype.kind in "iufb" and spec.dtype.kind in "iub":
        return fitted[()] if np.array_equal(fitted, leaf) else None
    if math.prod(fitted.shape) == 1 and leaf.dtype.kind == "c":
        return None
    return fitted[()]
