"""Datasets given to strategies, checked and planned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from replax._src.core.errors import UnimplementedError
from replax._src.dataset.node import Node
from replax._src.dataset.planned import Planned
from replax._src.dataset.processes import executed
from replax._src.input.distributed_dataset import DistributedDataset
from replax._src.input.options import (
    InputContext,
    InputOptions,
    InputReplicationMode,
)
from replax._src.replica import scope

__all__ = ["distribute_dataset", "distribute_from_function"]

_PER_REPLICA = InputReplicationMode.PER_REPLICA


def distribute_dataset(
    dataset: Any, options: InputOptions | None, place: scope.Place
) -> DistributedDataset:
    """A dataset of batches over all replicas, of which each gets its part."""
    options = _checked(options)
    if options.experimental_replication_mode is _PER_REPLICA:
        msg = (
            "experimental_distribute_dataset with PER_REPLICA: one dataset is split "
            "over the replicas; for a dataset of each replica's own use "
            "distribute_datasets_from_function"
        )
        raise UnimplementedError(msg)
    plan = _plan(dataset, "experimental_distribute_dataset")
    return DistributedDataset([plan], place, options, is_split=True)


def distribute_from_function(
    dataset_fn: Callable[[InputContext], Any],
    options: InputOptions | None,
    place: scope.Place,
) -> DistributedDataset:
    """The datasets that a function makes, whose elements replicas get whole."""
    options = _checked(options)
    if not callable(dataset_fn):
        msg = (
            f"distribute_datasets_from_function got {dataset_fn!r}; give a function "
            f"that takes an InputContext and returns a dataset, or use "
            f"experimental_distribute_dataset"
        )
        raise TypeError(msg)
    replicas = place.topology.num_replicas
    if options.experimental_replication_mode is _PER_REPLICA:
        if options.experimental_fetch_to_device:
            msg = (
                "PER_REPLICA input stays on the host; give "
                "InputOptions(experimental_fetch_to_device=False, ...) with it"
            )
            raise ValueError(msg)
        contexts = [
            InputContext(replicas, replica, replicas)
            for replica in place.topology.local_replicas
        ]
    else:
        contexts = [InputContext(1, 0, replicas)]
    plans = [
        _plan(dataset_fn(context), "the function of distribute_datasets_from_function")
        for context in contexts
    ]
    return DistributedDataset(plans, place, options, is_split=False)


def _plan(dataset: Any, what: str) -> Node:
    if not isinstance(dataset, Planned):
        msg = (
            f"{what} got {dataset!r}, which is no dataset; make one with "
            f"replax.data.Dataset"
        )
        raise TypeError(msg)
    return executed(dataset.plan, dataset.chosen_options)


def _checked(options: InputOptions | None) -> InputOptions:
    if options is None:
        return InputOptions()
    if not isinstance(options, InputOptions):
        msg = f"options is {options!r}; give a replax.distribute.InputOptions, or None"
        raise TypeError(msg)
    if (
        options.experimental_place_dataset_on_device
        and options.experimental_replication_mode is not _PER_REPLICA
    ):
        msg = (
            "experimental_place_dataset_on_device goes with "
            "experimental_replication_mode=InputReplicationMode.PER_REPLICA only"
        )
        raise ValueError(msg)
    return options
