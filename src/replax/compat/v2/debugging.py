"""Assertions about values."""

from replax._src.compat.advice import advice_for_attribute as _advice
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
from replax._src.core.loading import loaded_later as _loaded_later

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


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
