"""Which TensorFlow's answers the facades give."""

from __future__ import annotations

__all__ = ["__version__"]

# Programs ask `tf.__version__` which TensorFlow they run with.
__version__ = "2.21.0"
