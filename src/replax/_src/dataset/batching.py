"""How elements are put together: batches, buckets, windows, and rows again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import jax
import numpy as np

from replax._src.dataset.node import Node
from replax._src.dataset.planned import (
    Planned,
    plan_of,
    require_count,
    require_function,
    require_whole,
)
from replax._src.dataset.shuffling import Chance
from replax._src.dataset.structure import TreeDef, as_leaf
from replax._src.dataset.transformations.batch import Batch
from replax._src.dataset.transformations.bucket import Bucket
from replax._src.dataset.transformations.group_by_window import GroupByWindow
from replax._src.dataset.transformations.padded_batch import PaddedBatch, Padding
from replax._src.dataset.transformations.unbatch import Unbatch
from replax._src.dataset.transformations.window import Window

__all__ = ["Batching"]


class Batching(Planned):
    """Methods that put elements together, and take them apart."""

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """Consecutive elements as one, on a new first axis.

        Args:
          batch_size: How many.
          drop_remainder: Whether a last batch of fewer is left out.
          num_parallel_calls: Accepted; a batch is made in one piece anyway.
          deterministic: Accepted; the order of elements is always kept.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> [x.tolist() for x in Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        del num_parallel_calls, deterministic, name
        size = require_count("batch_size", batch_size, 1)
        return self._then(
            Batch(child=self._plan, size=size, drop_remainder=bool(drop_remainder))
        )

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Consecutive elements of different shapes as one, padded to one shape.

        Args:
          batch_size: How many.
          padded_shapes: A nest of shapes to pad to; None in a shape, or in its place,
            pads to the longest element of the batch.
          padding_values: A nest of what to pad with, or one value for all; 0 or an
            empty string if not given.
          drop_remainder: Whether a last batch of fewer is left out.
          name: Accepted for TensorFlow's programs.

        >>> import numpy as np
        >>> from replax.data import Dataset
        >>> rows = Dataset.range(1, 4).map(lambda n: np.full(n, n))
        >>> [x.tolist() for x in rows.padded_batch(2)]
        [[[1, 0], [2, 2]], [[3, 3, 3]]]
        """
        del name
        return self._then(
            PaddedBatch(
                child=self._plan,
                size=require_count("batch_size", batch_size, 1),
                padding=self._padding(padded_shapes, padding_values),
                drop_remainder=bool(drop_remainder),
            )
        )

    def _padding(self, shapes: Any, values: Any) -> Padding:
        treedef = self._plan.spec().treedef
        value_leaves = _broadcast(values, treedef, "padding_values")
        return Padding(
            _shapes(shapes, treedef),
            [None if value is None else as_leaf(value) for value in value_leaves],
        )

    def unbatch(self, name: str | None = None) -> Self:
        """The rows of the elements.

        >>> from replax.data import Dataset
        >>> [int(x) for x in Dataset.from_tensors([1, 2]).unbatch()]
        [1, 2]
        """
        del name
        return self._then(Unbatch(child=self._plan))

    def rebatch(
        self, batch_size: int, drop_remainder: bool = False, name: str | None = None
    ) -> Self:
        """The rows of the elements, in batches of another size.

        >>> from replax.data import Dataset
        >>> [x.tolist() for x in Dataset.range(5).batch(2).rebatch(3)]
        [[0, 1, 2], [3, 4]]
        """
        return self.unbatch(name).batch(batch_size, drop_remainder)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Padded batches, each of elements of about the same length.

        Args:
          element_length_func: Gives the length of an element.
          bucket_boundaries: The lengths at which the next bucket begins.
          bucket_batch_sizes: How many elements a batch of each bucket has; one more
            than there are boundaries.
          padded_shapes: As for ``padded_batch``.
          padding_values: As for ``padded_batch``.
          pad_to_bucket_boundary: Whether to pad to one less than the bucket's boundary
            rather than to the longest element.
          no_padding: Whether elements of a batch have one shape as they are.
          drop_remainder: Whether batches at the end that are not full are left out.
          name: Accepted for TensorFlow's programs.

        >>> import numpy as np
        >>> from replax.data import Dataset
        >>> rows = Dataset.range(1, 5).map(lambda n: np.full(n, n))
        >>> for batch in rows.bucket_by_sequence_length(len, [3], [2, 2]):
        ...     print(batch.shape)
        (2, 2)
        (2, 4)
        """
        del name
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            msg = (
                f"bucket_by_sequence_length got {len(bucket_boundaries)} boundaries "
                f"and {len(bucket_batch_sizes)} batch sizes; give one size more than "
                f"boundaries, for what lies behind the last one"
            )
            raise ValueError(msg)
        boundaries = [require_whole("bucket_boundaries", b) for b in bucket_boundaries]
        if boundaries != sorted(set(boundaries)):
            msg = f"bucket_boundaries is {boundaries}; give lengths that go up"
            raise ValueError(msg)
        return self._then(
            Bucket(
                child=self._plan,
                length_of=require_function(
                    "bucket_by_sequence_length", element_length_func
                ),
                boundaries=boundaries,
                sizes=[
                    require_count("bucket_batch_sizes", size, 1)
                    for size in bucket_batch_sizes
                ],
                padding=(
                    None if no_padding else self._padding(padded_shapes, padding_values)
                ),
                to_boundary=pad_to_bucket_boundary,
                drop_remainder=drop_remainder,
            )
        )

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements of datasets that are made of those with a key in common.

        Args:
          key_func: Gives the key of an element, a whole number.
          reduce_func: Takes a key and a dataset of elements that have it, and gives a
            dataset.
          window_size: How many elements such a dataset has; at the end, fewer.
          window_size_func: Gives for a key how many elements.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> pairs = Dataset.range(5).group_by_window(
        ...     key_func=lambda x: x % 2,
        ...     reduce_func=lambda key, window: window.batch(2),
        ...     window_size=2,
        ... )
        >>> [x.tolist() for x in pairs]
        [[0, 2], [1, 3], [4]]
        """
        del name
        if (window_size is None) == (window_size_func is None):
            msg = (
                f"group_by_window got window_size={window_size!r} and "
                f"window_size_func={window_size_func!r}; give one of the two"
            )
            raise ValueError(msg)
        what = "group_by_window"
        reduce = require_function(what, reduce_func)
        size = require_count(
            "window_size", 1 if window_size is None else window_size, 1
        )

        def size_of(key: int) -> int:
            if window_size_func is None:
                return size
            return require_count("window_size_func", window_size_func(np.int64(key)), 1)

        def make(key: int, window: Node) -> Node:
            made = reduce(np.int64(key), self.made(window))
            return plan_of(made, f"the reduce_func of {what}")

        return self._then(
            GroupByWindow(
                child=self._plan,
                key_of=require_function(what, key_func),
                size_of=size_of,
                make=make,
                chance=Chance(None),
            )
        )

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """Datasets of consecutive elements.

        Args:
          size: How many elements each has.
          shift: How far each begins behind the one before; ``size`` if not given.
          stride: How far apart its elements are.
          drop_remainder: Whether windows at the end that are not full are left out.
          name: Accepted for TensorFlow's programs.

        >>> from replax.data import Dataset
        >>> windows = Dataset.range(4).window(3, shift=1, drop_remainder=True)
        >>> [x.tolist() for x in windows.flat_map(lambda w: w.batch(3))]
        [[0, 1, 2], [1, 2, 3]]
        """
        del name
        return self._then(
            Window(
                child=self._plan,
                size=require_count("size", size, 1),
                shift=require_count("shift", size if shift is None else shift, 1),
                stride=require_count("stride", stride, 1),
                drop_remainder=drop_remainder,
                wrap=self.made,
            )
        )


def _shapes(shapes: Any, treedef: TreeDef) -> list[tuple[int | None, ...] | None]:
    """The shape to pad each leaf to."""
    if shapes is None:
        return [None] * treedef.num_leaves
    leaves = jax.tree_util.tree_leaves(shapes, is_leaf=_is_shape)
    if len(leaves) != treedef.num_leaves:
        msg = (
            f"padded_shapes is {shapes!r}; give a shape for each of the "
            f"{treedef.num_leaves} arrays of an element, in the same nest"
        )
        raise TypeError(msg)
    return [
        None
        if shape is None
        else tuple(None if d is None or d < 0 else int(d) for d in shape)
        for shape in leaves
    ]


def _is_shape(value: Any) -> bool:
    return value is None or (
        isinstance(value, (list, tuple))
        and all(
            isinstance(d, int) or d is None or hasattr(d, "__index__") for d in value
        )
    )


def _broadcast(values: Any, treedef: TreeDef, what: str) -> list[Any]:
    leaves = jax.tree_util.tree_leaves(values, is_leaf=lambda v: v is None)
    if len(leaves) == 1:
        return leaves * treedef.num_leaves
    if len(leaves) != treedef.num_leaves:
        msg = (
            f"{what} is {values!r}; give one value, or one for each of the "
            f"{treedef.num_leaves} arrays of an element"
        )
        raise ValueError(msg)
    return leaves
