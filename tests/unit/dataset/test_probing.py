"""What a function makes of elements, as far as its first results tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from replax import TensorSpec
from replax.data import Dataset


def test_the_length_of_batches_is_open_even_if_the_first_has_one_row() -> None:
    rows = Dataset.range(1, 10).map(lambda n: np.full(n, n))
    buckets = rows.bucket_by_sequence_length(len, [3, 5], [1, 2, 2])
    made = buckets.map(lambda x: x * 2)
    assert made.element_spec == TensorSpec((None, None), np.int64)


def test_batches_that_are_always_full_have_their_length() -> None:
    batches = Dataset.range(6).batch(1, drop_remainder=True).map(lambda x: x[None])
    assert batches.element_spec == TensorSpec((1, 1), np.int64)


def test_a_function_that_takes_no_other_length_is_taken_at_its_first_results() -> None:
    def only_one(x: Any) -> Any:
        assert x.shape == (1,)
        return x[0]

    made = Dataset.range(3).batch(1).map(only_one)
    assert made.element_spec == TensorSpec((), np.int64)
    assert [int(x) for x in made] == [0, 1, 2]
