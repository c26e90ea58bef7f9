"""Small arrays travel together, and arrive as they were."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replax._src.replica.packing import LARGEST_PACKED, packed

ARRAYS = st.lists(
    st.tuples(
        st.sampled_from(["float32", "int32", "bfloat16"]),
        st.lists(st.integers(0, 3), max_size=3),
    ),
    max_size=6,
)


@given(ARRAYS)
def test_packing_changes_nothing(kinds: list[tuple[str, list[int]]]) -> None:
    arrays = [
        jnp.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape) + i
        for i, (dtype, shape) in enumerate(kinds)
    ]
    doubled = packed(lambda xs: [2 * x for x in xs], arrays)
    for array, double in zip(arrays, doubled, strict=True):
        assert double.dtype == array.dtype
        np.testing.assert_array_equal(double, 2 * array)


def test_small_arrays_of_a_dtype_go_together_and_large_ones_alone() -> None:
    sent: list[tuple[int, ...]] = []

    def send(arrays: list[jax.Array]) -> list[jax.Array]:
        sent.extend(x.shape for x in arrays)
        return arrays

    large = jnp.zeros((LARGEST_PACKED + 1,))
    packed(send, [jnp.zeros(3), large, jnp.zeros((2, 2)), jnp.zeros(3, int), large])
    assert sent == [(7,), (LARGEST_PACKED + 1,), (3,), (LARGEST_PACKED + 1,)]
