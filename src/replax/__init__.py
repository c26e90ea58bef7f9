"""Write a training step once, and run it on one device or on many."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from replax import config, distribute, errors
from replax._src.core.specs import TensorShape, TensorSpec, TypeSpec
from replax._src.execution.function import Function, function
from replax._src.values.kinds import VariableSnapshot
from replax._src.values.variable import Variable
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

if TYPE_CHECKING:
    from replax import data, experimental, io

__all__ = [
    "Function",
    "TensorShape",
    "TensorSpec",
    "TypeSpec",
    "Variable",
    "VariableAggregation",
    "VariableSnapshot",
    "VariableSynchronization",
    "config",
    "data",
    "distribute",
    "errors",
    "experimental",
    "function",
    "io",
]

# Loaded when they are first used, so that importing Replax takes hardly longer than
# importing JAX.
_LOADED_LATER = frozenset({"data", "experimental", "io"})


def __getattr__(name: str) -> Any:
    if name in _LOADED_LATER:
        return import_module(f"{__name__}.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
