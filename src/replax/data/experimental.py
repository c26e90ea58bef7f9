"""What TensorFlow keeps in ``tf.data.experimental``."""

from replax._src.dataset.options import (
    AutoShardPolicy,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
)

__all__ = [
    "AutoShardPolicy",
    "AutotuneOptions",
    "DistributeOptions",
    "OptimizationOptions",
]
