"""Specifications of values: shapes that may be open, and dtypes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

__all__ = ["STRING", "StringType", "TensorShape", "TensorSpec", "TypeSpec"]

Dimension = int | None


class StringType:
    """The dtype of strings of any length: NumPy's ``object``, under a name of its own.

    NumPy takes it wherever it takes a dtype.

    >>> import numpy as np, replax
    >>> spec = replax.TensorSpec([], object)
    >>> spec, spec.dtype == np.dtype(object)
    (TensorSpec(shape=(), dtype=string), True)
    """

    name = "string"
    kind = "O"
    itemsize = np.dtype(object).itemsize
    dtype = np.dtype(object)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (StringType, np.dtype)):
            return other.kind == self.kind
        return other is object

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return self.name


STRING = StringType()


class TensorShape(tuple[Dimension, ...]):
    """A shape whose dimensions may be open (``None``), or whose rank is unknown.

    >>> import replax
    >>> shape = replax.TensorShape([None, 3])
    >>> shape.rank, shape.as_list(), shape.is_compatible_with((7, 3))
    (2, [None, 3], True)
    """

    _rank_known: bool

    def __new__(cls, dims: Iterable[Dimension] | int | None = ()) -> Self:
        if isinstance(dims, cls):
            return dims
        known = dims is not None
        listed = [dims] if isinstance(dims, int) else dims or ()
        lengths = [None if d is None else int(d) for d in listed]
        if any(length is not None and length < 0 for length in lengths):
            msg = f"a shape of {lengths}: lengths are 0 or more; None leaves one open"
            raise ValueError(msg)
        shape = super().__new__(cls, lengths)
        shape._rank_known = known
        return shape

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if not isinstance(key, slice):
            return found
        return TensorShape(found if self._rank_known else None)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape) and other._rank_known != self._rank_known:
            return False
        if isinstance(other, list):
            other = tuple(other)
        return tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((tuple(self), self._rank_known))

    @property
    def rank(self) -> int | None:
        """Number of dimensions, or ``None`` when even that is unknown."""
        return len(self) if self._rank_known else None

    def as_list(self) -> list[Dimension]:
        """The dimensions as a list; an unknown rank is a ValueError."""
        if not self._rank_known:
            msg = "the rank of this shape is unknown, so it has no list of dimensions"
            raise ValueError(msg)
        return list(self)

    @property
    def ndims(self) -> int | None:
        """The same as ``rank``."""
        return self.rank

    def num_elements(self) -> int | None:
        """How many elements an array of this shape has; None if that is open."""
        lengths = [length for length in self if length is not None]
        return math.prod(lengths) if self.is_fully_defined() else None

    def concatenate(self, other: Iterable[Dimension] | int | None) -> TensorShape:
        """These dimensions, and then those of another shape."""
        behind = TensorShape(other)
        if not (self._rank_known and behind._rank_known):
            return TensorShape(None)
        return TensorShape([*self, *behind])

    def merge_with(self, other: Iterable[Dimension] | int | None) -> TensorShape:
        """What both shapes say together.

        Raises:
          ValueError: They contradict each other.
        """
        theirs = TensorShape(other)
        if not (self._rank_known and theirs._rank_known):
            return theirs if theirs._rank_known else self
        if not self.is_compatible_with(theirs):
            msg = f"{self!r} and {theirs!r} are not shapes of one array"
            raise ValueError(msg)
        pairs = zip(self, theirs, strict=True)
        return TensorShape([b if a is None else a for a, b in pairs])

    def is_fully_defined(self) -> bool:
        """Whether every dimension is known."""
        return self._rank_known and None not in self

    def is_compatible_with(self, shape: Sequence[Dimension]) -> bool:
        """Whether ``shape`` could be a value of this shape."""
        if not self._rank_known:
            return True
        return len(shape) == len(self) and all(
            a is None or b is None or a == b for a, b in zip(self, shape, strict=True)
        )

    def __repr__(self) -> str:
        return f"TensorShape({list(self) if self._rank_known else None})"

    def __str__(self) -> str:
        return str(tuple(self)) if self._rank_known else "<unknown>"


class TypeSpec:
    """Base of what describes a value without having it.

    >>> import replax
    >>> isinstance(replax.TensorSpec([2], "float32"), replax.TypeSpec)
    True
    """


class TensorSpec(TypeSpec):
    """Shape and dtype of an array.

    Args:
      shape: The dimensions; ``None`` leaves one open, and ``shape=None`` all of them.
      dtype: Anything NumPy takes for a dtype.
      name: For messages only; it takes no part in comparisons.

    >>> import replax
    >>> spec = replax.TensorSpec([None, 3], "float32")
    >>> spec
    TensorSpec(shape=(None, 3), dtype=float32)
    >>> spec == replax.TensorSpec([None, 3], "float32", name="x")
    True
    """

    __slots__ = ("dtype", "name", "shape")

    def __init__(
        self,
        shape: Iterable[Dimension] | int | None,
        dtype: Any = np.float32,
        name: str | None = None,
    ) -> None:
        self.shape = TensorShape(shape)
        found: np.dtype[Any] = np.dtype(dtype)
        self.dtype: Any = STRING if found.kind == "O" else found
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> Self:
        """The spec of an array.

        >>> import numpy as np, replax
        >>> replax.TensorSpec.from_tensor(np.zeros([2, 3]))
        TensorSpec(shape=(2, 3), dtype=float64)
        """
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> Self:
        """The same as another spec, under another name."""
        return cls(spec.shape, spec.dtype, spec.name if name is None else name)

    def is_compatible_with(self, value: Any) -> bool:
        """Whether an array (or another spec) fits this spec."""
        dtype = np.dtype(value.dtype)
        # Strings of NumPy have their length in their dtype.
        alike = dtype == self.dtype or dtype.kind == self.dtype.kind in "US"
        return alike and self.shape.is_compatible_with(value.shape)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and self.shape == other.shape
            and self.dtype == other.dtype
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        shape = tuple(self.shape) if self.shape.rank is not None else None
        name = f", name={self.name!r}" if self.name else ""
        return f"TensorSpec(shape={shape}, dtype={self.dtype}{name})"
