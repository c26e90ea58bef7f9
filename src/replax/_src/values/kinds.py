"""Which class a variable gets, and variables as pytrees."""

from __future__ import annotations

from typing import Any, final

import jax
import numpy as np

from replax._src.core import host
from replax._src.topology.topology import Topology
from replax._src.values import create
from replax._src.values.mirrored import MirroredVariable
from replax._src.values.operators import ArrayOperators
from replax._src.values.plain import PlainVariable
from replax._src.values.sync_on_read import SyncOnReadVariable
from replax._src.values.variable import Variable
from replax._src.values.vocabulary import VariableSynchronization

__all__ = ["VariableSnapshot"]


def _make(recipe: create.Recipe, topology: Topology) -> Variable:
    if topology.is_single:
        return PlainVariable.from_recipe(recipe, topology)
    if recipe.synchronization is VariableSynchronization.ON_READ:
        return SyncOnReadVariable.from_recipe(recipe, topology)
    return MirroredVariable.from_recipe(recipe, topology)


@final
class VariableSnapshot(ArrayOperators):
    """A variable's value after it went through a JAX transformation: read-only.

    >>> import jax
    >>> import replax
    >>> scale = replax.Variable(3.0, name="scale")
    >>> jax.grad(lambda v: v * v)(scale).numpy()
    array(6., dtype=float32)
    """

    __slots__ = ("_name", "_value")

    def __init__(self, name: str, value: Any) -> None:
        self._name = name
        self._value = value

    @property
    def name(self) -> str:
        """The variable's name."""
        return self._name

    @property
    def ndim(self) -> int:
        """Number of dimensions of the value."""
        return self._value.ndim

    @property
    def size(self) -> int:
        """Number of elements of the value."""
        return self._value.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self._value.shape

    @property
    def dtype(self) -> Any:
        """Dtype of the value."""
        return self._value.dtype

    def read_value(self) -> Any:
        """The value."""
        return self._value

    def value(self) -> Any:
        """The value."""
        return self._value

    def numpy(self) -> Any:
        """The value on the host."""
        return jax.tree.map(lambda x: np.array(host.numbers_of(x)), self._value)

    def operand(self) -> jax.Array:
        """The array to compute with."""
        return self._value

    def __jax_array__(self) -> jax.Array:
        return self._value

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("assign"):
            msg = (
                f"{attribute} of a copy of variable {self._name!r} that was passed "
                f"through a JAX transformation, where an assignment would be lost; "
                f"return the new value, and assign it to the variable outside"
            )
            raise TypeError(msg)
        raise AttributeError(attribute)

    def __repr__(self) -> str:
        return f"VariableSnapshot({self._name!r}, {self._value!r})"


def _flatten(value: Any) -> tuple[tuple[Any], str]:
    return (value.read_value(),), value.name


def _unflatten(name: str, children: Any) -> Any:
    return VariableSnapshot(name, *children)


create.set_kinds(_make)
for _kind in (PlainVariable, MirroredVariable, SyncOnReadVariable, VariableSnapshot):
    jax.tree_util.register_pytree_node(_kind, _flatten, _unflatten)
