"""Memory that the library has allocated, and whose else it may be."""

from __future__ import annotations

import numpy as np
import pytest

from replax._src.dataset.memory import gathered, give_away, owned


def test_rows_are_gathered_into_aligned_memory() -> None:
    column = np.arange(60, dtype=np.float32).reshape(20, 3)
    for index in (np.array([3, 3, 19]), np.array([], np.int64)):
        rows = gathered(column, index)
        np.testing.assert_array_equal(rows, column[index])
        assert rows.ctypes.data % 64 == 0
    words = np.array([b"a", b"b"], object)
    assert gathered(words, np.array([1])).tolist() == [b"b"]


@pytest.mark.parametrize("wrong", [-1, 20])
def test_numbers_of_no_row_are_errors(wrong: int) -> None:
    with pytest.raises(IndexError, match="not all numbers of 20 rows"):
        gathered(np.arange(20), np.array([3, wrong]))


def test_only_what_nobody_else_has_is_not_copied() -> None:
    rows = gathered(np.arange(20), np.arange(6))
    view = rows.reshape(2, 3)[1:]
    assert owned(view) is view
    give_away(view[0])
    copy = owned(view)
    assert not np.shares_memory(copy, rows)
    assert owned(copy) is copy
    np.testing.assert_array_equal(copy, [[3, 4, 5]])
