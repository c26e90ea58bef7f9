"""Assertions about values."""

from replax._src.compat.assertions import assert_equal

__all__ = ["assert_equal"]
