"""What models are given to train on, as Keras's loops read it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any, final

import jax
import keras

from replax._src.core.specs import TensorSpec
from replax._src.dataset.node import INFINITE
from replax._src.dataset.planned import Planned
from replax._src.input.distributed_dataset import DistributedDataset
from replax._src.input.specs import PerReplicaSpec
from replax._src.keras import internals
from replax._src.keras.batch import Batch
from replax._src.keras.dataset_creator import DatasetCreator
from replax._src.strategies.strategy import Strategy
from replax._src.topology.topology import Topology

__all__ = ["DistributedAdapter", "PlacingAdapter", "adapter", "is_ours"]


class _Adapter(internals.DataAdapter):
    """What all have in common: batches on the devices of the replicas."""

    topology: Topology

    def batch_like(self) -> Any:
        """What a batch looks like: a nest of things with a shape and a dtype."""
        raise NotImplementedError

    def get_numpy_iterator(self) -> Any:
        """The same: a loop on JAX takes arrays of any kind."""
        return self.get_jax_iterator()


@final
class PlacingAdapter(_Adapter):
    """Anything that Keras knows how to read, put on the devices batch by batch.

    Args:
      source: Keras's own adapter of it.
      topology: The replicas.
    """

    def __init__(self, source: Any, topology: Topology) -> None:
        self.topology = topology
        self._source = source

    def get_jax_iterator(self) -> Iterator[Batch]:
        """The batches of an epoch."""
        for batch in self._source.get_jax_iterator():
            yield Batch.placed(batch, self.topology)

    def batch_like(self) -> Any:
        """The first batch; what is read for it is given again."""
        self._source.on_epoch_begin()
        batch = next(iter(self._source.get_jax_iterator()))
        self._source.on_epoch_end()
        Batch.placed(batch, self.topology)  # what is wrong with it is said by us
        return batch

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, if that is known."""
        return self._source.num_batches

    @property
    def batch_size(self) -> int | None:
        """How many rows a batch has, if that is known."""
        return self._source.batch_size

    @property
    def has_partial_batch(self) -> bool | None:
        """Whether the last batch has fewer rows."""
        return self._source.has_partial_batch

    @property
    def partial_batch_size(self) -> int | None:
        """How many rows the last batch has."""
        return self._source.partial_batch_size

    def on_epoch_begin(self) -> None:
        """Tells the source."""
        self._source.on_epoch_begin()

    def on_epoch_end(self) -> None:
        """Tells the source."""
        self._source.on_epoch_end()


@final
class DistributedAdapter(_Adapter):
    """A distributed dataset: its steps are made ahead, on the devices already.

    Args:
      dataset: The distributed dataset.
      topology: The replicas it is distributed over.
      is_plain: Whether a loop of Keras without any strategy reads it.
    """

    def __init__(
        self, dataset: DistributedDataset, topology: Topology, *, is_plain: bool
    ) -> None:
        self.topology = topology
        self._dataset = dataset
        self._is_plain = is_plain

    def get_jax_iterator(self) -> Iterator[Any]:
        """The batches of an epoch."""
        iterator = iter(self._dataset)
        try:
            for step in iterator:
                yield step if self._is_plain else Batch.of_step(step, self.topology)
        finally:
            iterator.close()

    def batch_like(self) -> Any:
        """What the dataset says of its elements; nothing is read."""
        return jax.tree.map(
            _global, self._dataset.element_spec, is_leaf=lambda x: hasattr(x, "dtype")
        )

    @property
    def num_batches(self) -> int | None:
        """How many steps there are, if that is known."""
        count = self._dataset.cardinality()
        return count if count >= 0 else None

    @property
    def batch_size(self) -> None:
        """Not known before the rows are there."""
        return None

    @property
    def has_partial_batch(self) -> None:
        """Not known before the rows are there."""
        return None

    @property
    def partial_batch_size(self) -> None:
        """Not known before the rows are there."""
        return None


def is_ours(data: Any) -> bool:
    """Whether ``data`` is a dataset of Replax, or makes one."""
    return isinstance(data, (Planned, DistributedDataset, DatasetCreator))


def adapter(strategy: Strategy, x: Any, **arguments: Any) -> _Adapter:
    """How a loop of Keras reads what it was given.

    Args:
      strategy: Whose replicas train on it.
      x: What the loop was given.
      arguments: What else it was given, as ``keras.Model.fit`` names it.
    """
    topology = strategy.place.topology
    if isinstance(x, _Adapter):
        return x
    if inspect.isroutine(x) or isinstance(x, functools.partial):
        msg = (
            f"a model is given the function {x!r} in place of data; if it takes an "
            f"InputContext and returns a dataset, give "
            f"replax.keras.DatasetCreator(function), and if it is a generator, call it"
        )
        raise TypeError(msg)
    if not is_ours(x):
        return PlacingAdapter(internals.get_data_adapter(x, **arguments), topology)
    for name in ("y", "sample_weight"):
        if arguments.get(name) is not None:
            msg = (
                f"{name} is given beside a dataset, {x!r}; let the elements of the "
                f"dataset be tuples (x, y) or (x, y, sample_weight)"
            )
            raise ValueError(msg)
    weights = arguments.get("class_weight")
    if weights is not None:
        x = _weighted(x, weights)
    if isinstance(x, DatasetCreator):
        x = strategy.distribute_datasets_from_function(x, x.input_options)
    elif isinstance(x, Planned):
        x = strategy.experimental_distribute_dataset(x)
    if x.cardinality() == INFINITE and arguments.get("steps_per_epoch") is None:
        msg = (
            f"a model is given {x!r}, which is endless, and no number of steps; say "
            f"where an epoch ends with steps_per_epoch (fit), validation_steps, or "
            f"steps (evaluate and predict)"
        )
        raise ValueError(msg)
    return DistributedAdapter(x, topology, is_plain=strategy.place.is_default)


def _weighted(dataset: Any, class_weight: Any) -> Any:
    """A dataset whose elements have the weights of their classes."""
    if isinstance(dataset, DistributedDataset):
        msg = (
            f"class_weight is given beside {dataset!r}, whose elements are on devices "
            f"already; give fit the dataset before it is distributed, or let its "
            f"elements be tuples (x, y, sample_weight)"
        )
        raise TypeError(msg)

    def weigh(*element: Any) -> Any:
        x, y, weight = keras.utils.unpack_x_y_sample_weight(element)
        if weight is not None:
            msg = (
                "class_weight is given beside a dataset of (x, y, sample_weight); "
                "multiply the weights of the classes into sample_weight"
            )
            raise ValueError(msg)
        return x, y, internals.class_weight_to_sample_weights(y, class_weight)

    if isinstance(dataset, DatasetCreator):
        return DatasetCreator(
            lambda context: dataset(context).map(weigh), dataset.input_options
        )
    return dataset.map(weigh)


def _global(spec: Any) -> Any:
    """What the parts of all replicas look like together."""
    if isinstance(spec, PerReplicaSpec):
        sizes = [part.shape[0] for part in spec.specs]
        known = [size for size in sizes if size is not None]
        rows = sum(known) if len(known) == len(sizes) else None
        return TensorSpec((rows, *spec.specs[0].shape[1:]), spec.dtype)
    return spec
