"""Assertions about values."""

from replax._src.compat.assertions import (
    Assert,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_non_negative,
    assert_none_equal,
    assert_positive,
    check_numerics,
)

__all__ = [
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_non_negative",
    "assert_none_equal",
    "assert_positive",
    "check_numerics",
]
