"""Write a training step once, and run it on one device or on many."""

from typing import TYPE_CHECKING

from replax import config, distribute, errors
from replax._src.core.loading import loaded_later as _loaded_later
from replax._src.core.specs import TensorShape, TensorSpec, TypeSpec
from replax._src.execution.function import Function, function
from replax._src.values.kinds import VariableSnapshot
from replax._src.values.variable import Variable
from replax._src.values.vocabulary import (
    VariableAggregation,
    VariableSynchronization,
)

if TYPE_CHECKING:
    from replax import data, experimental, io, keras, train

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
    "keras",
    "train",
]


def __getattr__(name: str) -> object:
    homes = dict.fromkeys(["data", "experimental", "io", "keras", "train"])
    return _loaded_later(__name__, name, homes)
