"""The batches that ``adapt`` learns from, of whatever it was given."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import jax
import numpy as np

from replax._src.cluster.coordination import Coordination
from replax._src.dataset.dataset import Dataset
from replax._src.dataset.planned import Planned
from replax._src.input.distributed_dataset import DistributedDataset
from replax._src.preprocessing.merging import Statistics, merge_across
from replax._src.values.distributed import DistributedValues

__all__ = ["batches_of", "is_array", "learned_everywhere"]

S = TypeVar("S", bound=Statistics)


def is_array(data: Any) -> bool:
    """Whether data is one array, and not several batches."""
    return isinstance(data, (np.ndarray, np.generic, jax.Array))


def batches_of(layer: str, data: Any, steps: int | None) -> Iterator[Any]:
    """The batches of a dataset or iterable, on the host.

    Args:
      layer: Who reads them, for errors.
      data: A dataset, a distributed dataset, or any iterable of batches. Of a
        distributed one these are the parts of this worker's replicas.
      steps: How many batches at most; None for all.
    """
    if steps is not None and (type(steps) is not int or steps < 1):
        msg = (
            f"steps of {layer}.adapt is {steps!r}; give how many batches to read, or "
            f"None for all of them"
        )
        raise ValueError(msg)
    if isinstance(data, DistributedDataset):
        # Strings and 64 bits are learned from too, which devices do not have.
        distributed = itertools.islice(data.on_host(), steps)
        return itertools.chain.from_iterable(map(_parts, distributed))
    if isinstance(data, Planned):
        # Not as a facade gives its elements.
        data = Dataset(data.plan, data.chosen_options)
    if not hasattr(data, "__iter__"):
        msg = (
            f"{layer}.adapt got {data!r}, which is no data; give an array, a dataset, "
            f"or an iterable of batches"
        )
        raise TypeError(msg)
    return itertools.islice(iter(data), steps)


def _parts(value: Any) -> list[Any]:
    """What each replica of this process was given."""
    leaves, treedef = jax.tree_util.tree_flatten(
        value, is_leaf=lambda leaf: isinstance(leaf, DistributedValues)
    )
    columns = [
        leaf.values if isinstance(leaf, DistributedValues) else (leaf,)
        for leaf in leaves
    ]
    return [treedef.unflatten(row) for row in zip(*columns, strict=True)]


def learned_everywhere(statistics: S, empty: Callable[[], S], data: Any) -> S:
    """What all workers learned that the data was distributed over.

    Args:
      statistics: What this worker has learned.
      empty: Makes the same without data.
      data: What it was learned from.
    """
    if not isinstance(data, DistributedDataset):
        return statistics
    ranks = data.ranks
    group = Coordination.of_process()
    if len(ranks) == 1 or group is None:
        return statistics
    merged = empty()
    merge_across(statistics, merged, ranks, group)
    return merged
