"""Elements of other libraries as nests of host values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

__all__ = ["as_array_or_tuple", "as_tuple_of_tensors", "host_nest", "is_of"]

_PLAIN = (bool, int, float, complex, str, bytes)


def _loaded(module: str, name: str) -> Any:
    """A class of a library, if its users have imported it; None otherwise."""
    return getattr(sys.modules.get(module), name, None)


def is_of(value: Any, module: str, name: str) -> bool:
    """Whether a value is an instance of a class of a library."""
    kind = _loaded(module, name)
    return isinstance(kind, type) and isinstance(value, kind)


def host_nest(value: Any, list_of: Callable[[list[Any]], Any] | None = None) -> Any:
    """The same nest with arrays of NumPy for torch's tensors.

    Args:
      value: An element.
      list_of: Makes a tuple of a list that is a nest; lists are arrays if not given.
    """
    if isinstance(value, tuple):
        items = [host_nest(item, list_of) for item in value]
        # A named tuple takes its fields one by one.
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, Mapping):
        return {key: host_nest(item, list_of) for key, item in value.items()}
    if type(value) is list:
        nest = value if list_of is None else list_of(value)
        return type(nest)(host_nest(item, list_of) for item in nest)
    return _leaf(value)


def as_array_or_tuple(items: list[Any]) -> Any:
    """Lists of numbers or strings are arrays; others are nests, so tuples."""
    return items if _is_plain(items) else tuple(items)


def as_tuple_of_tensors(items: list[Any]) -> Any:
    """Lists are arrays, except that torch collates tuples to lists of tensors."""
    tensors = any(is_of(item, "torch", "Tensor") for item in items)
    return tuple(items) if tensors else items


def _is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(_is_plain(item) for item in value)
    return isinstance(value, _PLAIN)


def _leaf(value: Any) -> Any:
    """A tensor of torch as an array, without a copy if it is in memory."""
    if not is_of(value, "torch", "Tensor"):
        return value
    torch: Any = sys.modules["torch"]
    if value.layout is not torch.strided or value.is_quantized:
        what = "quantized" if value.is_quantized else str(value.layout)
        msg = (
            f"an element has a tensor of torch that is {what}, and NumPy has no such "
            f"arrays; map it to .to_dense() (or .dequantize()) in torch"
        )
        raise TypeError(msg)
    tensor = value.detach().cpu().resolve_conj().resolve_neg()
    other = _NOT_IN_NUMPY.get(str(tensor.dtype))
    if other is None:
        return tensor.numpy()
    integers = torch.int16 if other.itemsize == 2 else torch.uint8
    array: np.ndarray = tensor.view(integers).numpy()
    return array.view(other)


# What torch cannot give to NumPy; JAX has them.
_NOT_IN_NUMPY: dict[str, np.dtype[Any]] = {
    f"torch.{name}": np.dtype(getattr(jnp, name))
    for name in (
        "bfloat16",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
    )
}
