"""Replax under the names of TensorFlow."""

__all__ = []
