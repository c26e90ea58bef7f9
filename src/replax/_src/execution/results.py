"""What functions of TensorFlow's kind return: values, also in place of variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from replax._src.execution.tracing import ProgramFrame
from replax._src.replica import scope
from replax._src.values.distributed import DistributedValues, PerReplica
from replax._src.values.handle import is_handle
from replax._src.values.variable import Variable

__all__ = ["returning_values", "values_of"]


def returning_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with the present values in place of the variables it returns."""

    @functools.wraps(function)
    def with_values(*args: Any, **kwargs: Any) -> Any:
        return values_of(function(*args, **kwargs))

    return with_values


def values_of(result: Any) -> Any:
    """A nest with the present values in place of the variables in it."""
    return jax.tree.map(_value, result, is_leaf=is_handle)


def _value(leaf: Any) -> Any:
    if not isinstance(leaf, Variable):
        return leaf
    frame = scope.current_frame()
    if (
        isinstance(leaf, DistributedValues)
        and isinstance(frame, ProgramFrame)
        and leaf in frame.from_steps
        and leaf.topology.agreement is None
    ):
        return jax.tree.map(
            lambda *column: PerReplica.on(column, leaf.topology), *leaf.values
        )
    return leaf.read_value()
