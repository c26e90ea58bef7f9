"""Write a training step once, and run it on one device or on many."""

from replax import errors
from replax._src.core.specs import TensorShape, TensorSpec, TypeSpec

__all__ = ["TensorShape", "TensorSpec", "TypeSpec", "errors"]
