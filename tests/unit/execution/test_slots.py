"""One room for the values of all shape classes."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replax._src.execution.slots import Slot, matched


def types(*shapes, dtype: type = np.float32):
    return [jax.ShapeDtypeStruct(shape, np.dtype(dtype)) for shape in shapes]


shapes = st.lists(st.lists(st.integers(0, 5), max_size=3).map(tuple), max_size=4)


@given(st.lists(shapes, min_size=1, max_size=3))
def test_memory_is_never_more_than_that_of_the_largest_value_of_each_rank(classes):
    slots, places = matched([types(*own) for own in classes])
    for own, its in zip(classes, places, strict=True):
        assert len(set(its)) == len(own)
        for shape, place in zip(own, its, strict=True):
            assert np.prod(slots[place].shape) >= np.prod(shape)
    assert len(slots) == max(map(len, classes))
    for slot, column in zip(slots, range(len(slots)), strict=True):
        users = [
            np.prod(own[its.index(column)])
            for own, its in zip(classes, places, strict=True)
            if column in its
        ]
        assert np.prod(slot.shape) == max(users)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (0, 3), (3, 1, 2)])
def test_a_value_comes_back_as_it_went_in(shape):
    value = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    padded = Slot(tuple(n + 2 for n in shape), value.dtype)
    flat = Slot((int(np.prod(shape)) + 3,), value.dtype, is_flat=True)
    for slot in (padded, flat):
        held = slot.filled(value)
        assert held.shape == slot.shape
        assert held.sum() == value.sum()
        np.testing.assert_array_equal(slot.taken(held, shape), value)


def test_values_that_correspond_lie_as_they_are():
    slots, places = matched([types((4, 3), ()), types((1, 3), ())])
    assert slots == [Slot((4, 3), np.float32), Slot((), np.float32)]
    assert places == [[0, 1], [0, 1]]


def test_values_that_no_class_has_largest_in_all_directions_lie_flat():
    (slot,), _ = matched([types((4, 3)), types((3, 5))])
    assert slot == Slot((15,), np.float32, is_flat=True)


def test_values_of_different_types_do_not_share():
    slots, places = matched([types((4,)), types((3,), dtype=np.int32)])
    assert [slot.dtype for slot in slots] == [np.float32, np.int32]
    assert places == [[0], [1]]
