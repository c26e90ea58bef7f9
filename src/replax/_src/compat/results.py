"""What functions return in TensorFlow: values, also in place of variables."""

from __future__ import annotations

from typing import Any

import jax

from replax._src.compat.conversion import convert_to_tensor
from replax._src.core import host
from replax._src.execution.tracing import ProgramFrame
from replax._src.replica import scope
from replax._src.values.distributed import DistributedValues, PerReplica
from replax._src.values.handle import is_handle
from replax._src.values.variable import Variable

__all__ = ["values_of"]


def values_of(result: Any) -> Any:
    """A nest with arrays in place of numbers, and of variables, as they are now."""
    return jax.tree.map(_value, result, is_leaf=is_handle)


def _value(leaf: Any) -> Any:
    if host.is_number(leaf):
        return convert_to_tensor(leaf)
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
