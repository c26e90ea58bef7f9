"""``group_by_window``: which windows come when, and going on in the middle of one."""

from __future__ import annotations

import pytest

from positions import check_positions
from replax import errors
from replax.data import Dataset


def by_three(size: int = 2) -> Dataset:
    return Dataset.range(10).group_by_window(
        lambda x: x % 3, lambda key, window: window.batch(4), window_size=size
    )


def test_full_windows_come_first_and_the_rest_by_key() -> None:
    found = [x.tolist() for x in by_three()]
    assert found == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]


def test_windows_can_have_sizes_of_their_own() -> None:
    data = Dataset.range(6).group_by_window(
        key_func=lambda x: x % 2,
        reduce_func=lambda key, window: window.batch(9),
        window_size_func=lambda key: key + 1,
    )
    assert [x.tolist() for x in data] == [[0], [2], [1, 3], [4], [5]]


def test_a_window_may_give_several_elements() -> None:
    data = Dataset.range(4).map(lambda x: (x, -x))
    pairs = data.group_by_window(
        lambda x, y: x % 2, lambda key, window: window.repeat(2), 2
    )
    assert [int(x) for x, _ in pairs] == [0, 2, 0, 2, 1, 3, 1, 3]


def test_it_goes_on_exactly() -> None:
    assert len(check_positions(by_three)) == 6
    assert len(check_positions(lambda: by_three().unbatch())) == 10


def test_one_size_is_to_be_given() -> None:
    data = Dataset.range(2)
    with pytest.raises(ValueError, match=r"window_size=None.*give one of the two"):
        data.group_by_window(lambda x: x, lambda k, w: w)
    with pytest.raises(errors.InvalidArgumentError, match="window_size is 0; give"):
        data.group_by_window(lambda x: x, lambda k, w: w, 0)
    bad = data.group_by_window(lambda x: x, lambda k, w: 3, 1)
    with pytest.raises(TypeError, match="reduce_func of group_by_window got 3"):
        next(iter(bad))


class TestUnique:
    def test_it_goes_on_exactly(self) -> None:
        def build() -> Dataset:
            return Dataset.from_tensor_slices([3, 1, 3, 2, 1, 4]).unique()

        assert [int(x) for x in check_positions(build)] == [3, 1, 2, 4]

    def test_real_numbers_are_refused(self) -> None:
        with pytest.raises(TypeError, match=r"unique of .*round them, first"):
            list(Dataset.from_tensor_slices([1.5]).unique())


class TestAssertCardinality:
    def test_it_is_taken_for_granted_and_checked(self) -> None:
        odd = Dataset.range(6).filter(lambda x: x % 2 == 1)
        assert len(odd.assert_cardinality(3)) == 3
        assert [int(x) for x in check_positions(lambda: odd.assert_cardinality(3))] == [
            1,
            3,
            5,
        ]
        with pytest.raises(errors.FailedPreconditionError, match="of only 3 elements"):
            list(odd.assert_cardinality(4))
        with pytest.raises(errors.FailedPreconditionError, match="more than 2 elem"):
            list(odd.assert_cardinality(2))


def test_a_hint_wants_to_be_shared() -> None:
    from replax.data.experimental import SHARD_HINT

    data = Dataset.range(4).shard(SHARD_HINT, SHARD_HINT)
    with pytest.raises(errors.FailedPreconditionError, match=r"AutoShardPolicy\.HINT"):
        next(iter(data.batch(2)))
