"""Write a training step once, and run it on one device or on many."""

from replax import config, distribute, errors, io
from replax._src.core.specs import TensorShape, TensorSpec, TypeSpec
from replax._src.execution.function import Function, function
from replax._src.values.kinds import VariableSnapshot
from replax._src.values.variable import Variable
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

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
    "distribute",
    "errors",
    "function",
    "io",
]
