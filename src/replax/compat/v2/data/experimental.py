"""More about datasets."""

from replax._src.compat.datasets import cardinality
from replax._src.dataset.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from replax._src.dataset.options import (
    SHARD_HINT,
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ThreadingOptions,
)
from replax._src.dataset.transforming import AUTOTUNE

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "OptimizationOptions",
    "ThreadingOptions",
    "cardinality",
]
