"""A function that makes datasets, for strategies that call it on their workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from replax._src.dataset.dataset import Dataset
from replax._src.dataset.taking import as_dataset
from replax._src.input.options import InputOptions

__all__ = ["DatasetCreator"]


@final
class DatasetCreator:
    """A dataset that is made where it is read: what ``Model.fit`` takes in its place.

    ``fit``, ``evaluate`` and ``predict`` of a model under a strategy call the function
    on each worker, as ``strategy.distribute_datasets_from_function`` does; a creator
    can be given to that too.

    Args:
      dataset_fn: Takes an ``InputContext``, and returns a dataset of batches, each as
        large as one replica's.
      input_options: How the strategy hands the batches out.

    >>> import replax
    >>> def dataset_fn(context):
    ...     data = replax.data.Dataset.range(8)
    ...     return data.batch(context.get_per_replica_batch_size(4))
    >>> creator = replax.keras.DatasetCreator(dataset_fn)
    >>> strategy = replax.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> data = strategy.distribute_datasets_from_function(creator)
    >>> [part.tolist() for part in next(iter(data)).values]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        dataset_fn: Callable[..., Any],
        input_options: InputOptions | None = None,
    ) -> None:
        if not callable(dataset_fn):
            given: Any = dataset_fn
            msg = (
                f"DatasetCreator got {given!r}; give a function that takes an "
                f"InputContext and returns a dataset"
            )
            raise TypeError(msg)
        if input_options is not None and not isinstance(input_options, InputOptions):
            msg = (
                f"input_options of DatasetCreator is {input_options!r}; give a "
                f"replax.distribute.InputOptions, or None"
            )
            raise TypeError(msg)
        self.dataset_fn = dataset_fn
        self.input_options = input_options

    def __call__(self, *args: Any, **kwargs: Any) -> Dataset:
        """The dataset for an ``InputContext``; one of another library is taken too."""
        return as_dataset(self.dataset_fn(*args, **kwargs))

    def __repr__(self) -> str:
        name = getattr(self.dataset_fn, "__name__", repr(self.dataset_fn))
        return f"DatasetCreator({name})"
