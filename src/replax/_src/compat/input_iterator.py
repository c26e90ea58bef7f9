"""Iterators of TensorFlow 1: begun, and begun anew, by ``initialize``."""

from __future__ import annotations

from typing import Any, Self

from replax._src.input.distributed_dataset import DistributedDataset

__all__ = ["InputIterator"]


class InputIterator:
    """The steps of a distributed dataset, from the first one whenever initialized.

    >>> import replax.compat.v1 as tf
    >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    >>> iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(4).batch(2))
    >>> iterator.initialize()
    >>> iterator.get_next().numpy()
    array([0, 1])
    """

    def __init__(self, dataset: DistributedDataset) -> None:
        self._dataset = dataset
        self._steps = iter(dataset)

    def initialize(self) -> None:
        """Begins with the first step again."""
        self._steps.close()
        self._steps = iter(self._dataset)

    def get_next(self) -> Any:
        """What the replicas get next.

        Raises:
          OutOfRangeError: No replica gets anything any more.
        """
        return self._steps.get_next()

    def get_next_as_optional(self) -> Any:
        """What the replicas get next, or that there is nothing any more."""
        return self._steps.get_next_as_optional()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        return next(self._steps)

    @property
    def element_spec(self) -> Any:
        """A nest of specs of what ``get_next`` gives."""
        return self._steps.element_spec

    def __repr__(self) -> str:
        return f"<InputIterator over {self._dataset!r}>"
