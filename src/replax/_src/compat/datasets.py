"""Datasets under TensorFlow's names: their elements are arrays with ``numpy()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.texts import with_texts
from replax._src.dataset import dataset as datasets
from replax._src.dataset import readers
from replax._src.dataset.planned import Dialect

__all__ = [
    "Dataset",
    "FixedLengthRecordDataset",
    "TFRecordDataset",
    "TextLineDataset",
    "cardinality",
]


def _taken(value: Any) -> Any:
    """Values as NumPy arrays of the dtypes that TensorFlow would give them."""
    return jax.tree_util.tree_map(_host, value, is_leaf=_is_list)


def _is_list(value: Any) -> bool:
    return type(value) is list


def _host(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind not in "SU":
        return value
    return np.asarray(convert_to_tensor(value))


def _given(element: Any) -> Any:
    return jax.tree_util.tree_map(_tensor, element)


def _tensor(leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind not in "OSU":
        return jnp.asarray(leaf)
    if isinstance(leaf, (bytes, str)):
        return convert_to_tensor(leaf)
    return leaf


class Dataset(datasets.Dataset):
    """A ``replax.data.Dataset`` of arrays that have TensorFlow's dtypes and methods.

    >>> import replax.compat.v2 as tf
    >>> [x.numpy() for x in tf.data.Dataset.from_tensor_slices([1, 2])]
    [np.int32(1), np.int32(2)]
    """

    dialect = Dialect(_taken, _given)

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """What a function makes of each element."""
        function = with_texts(map_func)
        return super().map(function, num_parallel_calls, deterministic, name)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements for which a function is true."""
        return super().filter(with_texts(predicate), name)

    def take_while(
        self, predicate: Callable[..., Any], name: str | None = None
    ) -> Self:
        """The elements before the first one for which a function is not true."""
        return super().take_while(with_texts(predicate), name)

    def cardinality(self, name: str | None = None) -> Any:
        """How many elements there are, as an array."""
        return jnp.asarray(super().cardinality(name), jnp.int64)

    def reduce(self, initial_state: Any, reduce_func: Any, name: Any = None) -> Any:
        """What a function makes of all elements, as arrays."""
        first = _given(_taken(initial_state))
        return super().reduce(first, reduce_func, name)


Dataset.made = Dataset


class TextLineDataset(Dataset, readers.TextLineDataset):
    """The lines of text files; see ``replax.data.TextLineDataset``.

    >>> import pathlib, tempfile
    >>> import replax.compat.v2 as tf
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_text("one")
    >>> list(tf.data.TextLineDataset(str(file)))
    [array(b'one', dtype=object)]
    """


class TFRecordDataset(Dataset, readers.TFRecordDataset):
    """The records of TFRecord files; see ``replax.data.TFRecordDataset``.

    >>> import pathlib, tempfile
    >>> import replax.compat.v2 as tf
    >>> file = str(pathlib.Path(tempfile.mkdtemp()) / "a.tfrecord")
    >>> with tf.io.TFRecordWriter(file) as writer:
    ...     writer.write(b"one")
    >>> list(tf.data.TFRecordDataset(file))
    [array(b'one', dtype=object)]
    """


class FixedLengthRecordDataset(Dataset, readers.FixedLengthRecordDataset):
    """Records of one length; see ``replax.data.FixedLengthRecordDataset``.

    >>> import pathlib, tempfile
    >>> import replax.compat.v2 as tf
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.bin"
    >>> _ = file.write_bytes(b"aabb")
    >>> list(tf.data.FixedLengthRecordDataset(str(file), 2))
    [array(b'aa', dtype=object), array(b'bb', dtype=object)]
    """


def cardinality(dataset: Dataset) -> Any:
    """How many elements a dataset has.

    >>> import replax.compat.v2 as tf
    >>> int(tf.data.experimental.cardinality(tf.data.Dataset.range(4)))
    4
    """
    return dataset.cardinality()
