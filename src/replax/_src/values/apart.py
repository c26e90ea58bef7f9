"""What is said where the values of several replicas are used as if they were one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["Apart"]


def _refusing(what: str) -> Callable[..., NoReturn]:
    def method(self: Apart, *args: Any) -> NoReturn:
        del self, args
        msg = (
            f"{what} of a PerReplica, which holds one value for each replica and is "
            f"not an array; give it to strategy.run as an argument, or bring the "
            f"values together first, as with strategy.reduce('MEAN', value, "
            f"axis=None) or strategy.gather(value, axis=0)"
        )
        raise TypeError(msg)

    return method


class Apart:
    """What is no array, and says so to those who take it for one."""

    __slots__ = ()

    # NumPy must not put it into an array of objects.
    __array_ufunc__ = None

    __add__ = __radd__ = _refusing("the sum")
    __sub__ = __rsub__ = _refusing("the difference")
    __mul__ = __rmul__ = __matmul__ = __rmatmul__ = _refusing("the product")
    __truediv__ = __rtruediv__ = __floordiv__ = _refusing("the quotient")
    __mod__ = _refusing("the remainder")
    __pow__ = _refusing("the power")
    __neg__ = _refusing("the negative")
    __abs__ = _refusing("the absolute value")
    __lt__ = __le__ = __gt__ = __ge__ = _refusing("a comparison")
    __getitem__ = _refusing("an element")
    __float__ = __int__ = _refusing("the number")
    __array__ = _refusing("the array")
    __jax_array__ = _refusing("the array")

    def __format__(self, spec: str) -> str:
        return str(self) if not spec else _refusing("the number")(self)

    def __getattr__(self, name: str) -> NoReturn:
        msg = f"{type(self).__name__!r} object has no attribute {name!r}"
        if not name.startswith("_"):
            msg += (
                "; it holds one value for each replica. Bring them together first, as "
                "with strategy.reduce('MEAN', value, axis=None), or look at each of "
                "strategy.experimental_local_results(value)"
            )
        raise AttributeError(msg)
