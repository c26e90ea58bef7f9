"""Arithmetic of things that stand for an array."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from replax._src.core import host
from replax._src.core.readable import Readable

__all__ = ["ArrayOperators"]


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: ArrayOperators, other: Any) -> Any:
        return function(self.operand(), _operand(other))

    return method


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: ArrayOperators, other: Any) -> Any:
        return function(_operand(other), self.operand())

    return method


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def method(self: ArrayOperators) -> Any:
        return function(self.operand())

    return method


def _operand(value: Any) -> Any:
    return value.operand() if isinstance(value, ArrayOperators) else value


def _is_plain(value: Any) -> bool:
    return host.is_number(value) or host.is_array(value)


class ArrayOperators(Readable):
    """What makes an object usable where an array is."""

    __slots__ = ()

    # NumPy must not take the object apart element by element.
    __array_priority__ = 200

    def operand(self) -> jax.Array:
        """The array to compute with; it is not handed on to the caller."""
        raise NotImplementedError

    def __jax_array__(self) -> jax.Array:
        raise NotImplementedError

    def __array__(
        self,
        dtype: Any = None,
        copy: bool | None = None,  # noqa: FBT001  # as NumPy calls it
    ) -> Any:
        del copy  # the array is on a device: what NumPy gets is always a copy
        return np.array(self.operand(), dtype=dtype)

    # Compared with a number or an array it is one; with anything else, itself.
    def __eq__(self, other: object) -> Any:
        return self.operand() == other if _is_plain(other) else self is other

    def __ne__(self, other: object) -> Any:
        return self.operand() != other if _is_plain(other) else self is not other

    def __hash__(self) -> int:
        return id(self)

    def __getitem__(self, key: Any) -> jax.Array:
        return self.__jax_array__()[key]

    def __iter__(self) -> Iterator[jax.Array]:
        return iter(self.__jax_array__())

    def __len__(self) -> int:
        return len(self.operand())

    def __bool__(self) -> bool:
        return bool(self.operand())

    def __int__(self) -> int:
        return int(self.operand())

    def __index__(self) -> int:
        return operator.index(self.operand())

    def __float__(self) -> float:
        return float(self.operand())

    def __complex__(self) -> complex:
        return complex(self.operand())

    def __format__(self, spec: str) -> str:
        return format(self.operand(), spec) if spec else str(self)

    __add__ = _binary(operator.add)
    __radd__ = _reflected(operator.add)
    __sub__ = _binary(operator.sub)
    __rsub__ = _reflected(operator.sub)
    __mul__ = _binary(operator.mul)
    __rmul__ = _reflected(operator.mul)
    __truediv__ = _binary(operator.truediv)
    __rtruediv__ = _reflected(operator.truediv)
    __floordiv__ = _binary(operator.floordiv)
    __rfloordiv__ = _reflected(operator.floordiv)
    __mod__ = _binary(operator.mod)
    __rmod__ = _reflected(operator.mod)
    __pow__ = _binary(operator.pow)
    __rpow__ = _reflected(operator.pow)
    __matmul__ = _binary(operator.matmul)
    __rmatmul__ = _reflected(operator.matmul)
    __and__ = _binary(operator.and_)
    __rand__ = _reflected(operator.and_)
    __or__ = _binary(operator.or_)
    __ror__ = _reflected(operator.or_)
    __xor__ = _binary(operator.xor)
    __rxor__ = _reflected(operator.xor)
    __lshift__ = _binary(operator.lshift)
    __rshift__ = _binary(operator.rshift)
    __lt__ = _binary(operator.lt)
    __le__ = _binary(operator.le)
    __gt__ = _binary(operator.gt)
    __ge__ = _binary(operator.ge)
    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __abs__ = _unary(operator.abs)
    __invert__ = _unary(operator.invert)
