"""Replax under the names of TensorFlow."""
