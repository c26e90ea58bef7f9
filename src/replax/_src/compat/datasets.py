"""Datasets under TensorFlow's names: their elements are arrays with ``numpy()``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from replax._src.compat.conversion import convert_to_tensor
from replax._src.compat.dataset_functions import asking, making, on_host, scanning
from replax._src.dataset import dataset as datasets
from replax._src.dataset import readers
from replax._src.dataset.planned import Dialect
from replax._src.dataset.structure import Opaque

__all__ = [
    "Dataset",
    "FixedLengthRecordDataset",
    "TFRecordDataset",
    "TextLineDataset",
    "cardinality",
]


def _given(element: Any) -> Any:
    return jax.tree_util.tree_map(_tensor, element)


def _tensor(leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind not in "OSU":
        return jnp.asarray(leaf)
    return leaf if isinstance(leaf, Opaque) else convert_to_tensor(leaf)


class Dataset(datasets.Dataset):
    """A ``replax.data.Dataset`` of arrays that have TensorFlow's dtypes and methods.

    >>> import replax.compat.v2 as tf
    >>> [x.numpy() for x in tf.data.Dataset.from_tensor_slices([1, 2])]
    [np.int32(1), np.int32(2)]
    """

    dialect = Dialect(on_host, _given, _tensor)

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """What a function makes of each element."""
        return super().map(making(map_func), num_parallel_calls, deterministic, name)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements for which a function is true."""
        return super().filter(asking(predicate), name)

    def take_while(
        self, predicate: Callable[..., Any], name: str | None = None
    ) -> Self:
        """The elements before the first one for which a function is not true."""
        return super().take_while(asking(predicate), name)

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Self:
        """The elements of the datasets that a function makes, one after the other."""
        return super().flat_map(asking(map_func), name)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements of the datasets that a function makes, by turns."""
        return super().interleave(
            asking(map_func),
            cycle_length,
            block_length,
            num_parallel_calls,
            deterministic,
            name,
        )

    def scan(
        self,
        initial_state: Any,
        scan_func: Callable[..., Any],
        name: str | None = None,
    ) -> Self:
        """What a function makes of each element and the state it gave before."""
        return super().scan(on_host(initial_state), scanning(scan_func), name)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements of datasets that are made of those with a key in common."""
        return super().group_by_window(
            asking(key_func), reduce_func, window_size, window_size_func, name
        )

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Sequence[Any] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Self:
        """A dataset of what a generator yields, which has to be said beforehand."""
        if output_types is None and output_signature is None:
            msg = (
                "from_generator was not told what the generator yields; give "
                "output_signature=tf.TensorSpec(shape, dtype), or a nest of them"
            )
            raise TypeError(msg)
        given = None if args is None else tuple(map(on_host, args))
        return super().from_generator(
            generator, output_types, output_shapes, given, output_signature, name
        )

    def cardinality(self, name: str | None = None) -> Any:
        """How many elements there are, as an array."""
        return jnp.asarray(super().cardinality(name), jnp.int64)

    def reduce(self, initial_state: Any, reduce_func: Any, name: Any = None) -> Any:
        """What a function makes of all elements, as arrays."""
        first = _given(on_host(initial_state))
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
