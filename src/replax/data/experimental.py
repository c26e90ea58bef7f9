"""What TensorFlow keeps in ``tf.data.experimental``."""

from replax._src.dataset.options import (
    SHARD_HINT,
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
)

__all__ = [
    "SHARD_HINT",
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "OptimizationOptions",
]
