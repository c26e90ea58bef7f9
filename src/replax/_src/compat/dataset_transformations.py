"""Functions of ``tf.data.experimental``: what ``Dataset`` has as methods today."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from replax._src.compat.datasets import Dataset
from replax._src.dataset.iterator import DatasetIterator
from replax._src.dataset.optional import Optional

__all__ = [
    "assert_cardinality",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_window",
    "ignore_errors",
    "sample_from_datasets",
    "scan",
    "take_while",
    "unbatch",
    "unique",
]

Transformation = Callable[[Dataset], Dataset]


def assert_cardinality(expected_cardinality: int) -> Transformation:
    """For ``dataset.apply``: the same elements, which are as many as is said.

    >>> import replax.compat.v2 as tf
    >>> data = tf.data.Dataset.range(4).filter(lambda x: x > 0)
    >>> len(data.apply(tf.data.experimental.assert_cardinality(3)))
    3
    """
    return lambda dataset: dataset.assert_cardinality(int(expected_cardinality))


def choose_from_datasets(
    datasets: Sequence[Dataset],
    choice_dataset: Dataset,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """See ``Dataset.choose_from_datasets``.

    >>> import replax.compat.v2 as tf
    >>> D = tf.data.Dataset
    >>> data = tf.data.experimental.choose_from_datasets(
    ...     [D.range(2), D.range(8, 9)], D.range(2)
    ... )
    >>> [int(x) for x in data]
    [0, 8]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Sequence[Dataset],
    weights: Sequence[float] | None = None,
    seed: int | None = None,
    stop_on_empty_dataset: bool = False,
) -> Dataset:
    """See ``Dataset.sample_from_datasets``.

    >>> import replax.compat.v2 as tf
    >>> D = tf.data.Dataset
    >>> data = tf.data.experimental.sample_from_datasets([D.range(2), D.range(2, 4)])
    >>> sorted(int(x) for x in data)
    [0, 1, 2, 3]
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def get_single_element(dataset: Dataset) -> Any:
    """See ``Dataset.get_single_element``.

    >>> import replax.compat.v2 as tf
    >>> tf.data.experimental.get_single_element(tf.data.Dataset.from_tensors(7))
    Array(7, dtype=int32)
    """
    return dataset.get_single_element()


def get_next_as_optional(iterator: DatasetIterator) -> Optional:
    """The next element of an iterator, or the fact that there is none.

    >>> import replax.compat.v2 as tf
    >>> iterator = iter(tf.data.Dataset.range(0))
    >>> bool(tf.data.experimental.get_next_as_optional(iterator).has_value())
    False
    """
    return iterator.get_next_as_optional()


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    **how: Any,
) -> Transformation:
    """For ``dataset.apply``; see ``Dataset.bucket_by_sequence_length``.

    >>> import replax.compat.v2 as tf
    >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
    >>> buckets = tf.data.experimental.bucket_by_sequence_length(len, [9], [2, 2])
    >>> [x.shape for x in rows.apply(buckets)]
    [(2, 2)]
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, **how
    )


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[[Any, Any], Any],
    window_size: int | None = None,
    window_size_func: Callable[[Any], Any] | None = None,
) -> Transformation:
    """For ``dataset.apply``; see ``Dataset.group_by_window``.

    >>> import replax.compat.v2 as tf
    >>> pairs = tf.data.experimental.group_by_window(
    ...     lambda x: x % 2, lambda key, window: window.batch(2), 2
    ... )
    >>> [x.tolist() for x in tf.data.Dataset.range(4).apply(pairs)]
    [[0, 2], [1, 3]]
    """
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def enumerate_dataset(start: int = 0) -> Transformation:
    """For ``dataset.apply``; see ``Dataset.enumerate``.

    >>> import replax.compat.v2 as tf
    >>> numbered = tf.data.experimental.enumerate_dataset(start=5)
    >>> [(int(i), int(x)) for i, x in tf.data.Dataset.range(2).apply(numbered)]
    [(5, 0), (6, 1)]
    """
    return lambda dataset: dataset.enumerate(start)


def ignore_errors(log_warning: bool = False) -> Transformation:
    """For ``dataset.apply``; see ``Dataset.ignore_errors``.

    >>> import replax.compat.v2 as tf
    >>> data = tf.data.Dataset.from_tensor_slices(["1", "x"]).map(tf.strings.to_number)
    >>> [float(x) for x in data.apply(tf.data.experimental.ignore_errors())]
    [1.0]
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """For ``dataset.apply``; see ``Dataset.scan``.

    >>> import numpy as np
    >>> import replax.compat.v2 as tf
    >>> sums = tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s + x))
    >>> [int(x) for x in tf.data.Dataset.range(4).apply(sums)]
    [0, 1, 3, 6]
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """For ``dataset.apply``; see ``Dataset.take_while``.

    >>> import replax.compat.v2 as tf
    >>> few = tf.data.experimental.take_while(lambda x: x < 2)
    >>> [int(x) for x in tf.data.Dataset.range(9).apply(few)]
    [0, 1]
    """
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """For ``dataset.apply``; see ``Dataset.unbatch``.

    >>> import replax.compat.v2 as tf
    >>> data = tf.data.Dataset.range(3).batch(2)
    >>> [int(x) for x in data.apply(tf.data.experimental.unbatch())]
    [0, 1, 2]
    """
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """For ``dataset.apply``; see ``Dataset.unique``.

    >>> import replax.compat.v2 as tf
    >>> data = tf.data.Dataset.from_tensor_slices([1, 2, 1])
    >>> [int(x) for x in data.apply(tf.data.experimental.unique())]
    [1, 2]
    """
    return lambda dataset: dataset.unique()
