"""Datasets given to strategies, checked and planned."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from replax._src.cluster import agreement
from replax._src.dataset.node import Node
from replax._src.dataset.options import AutoShardPolicy
from replax._src.dataset.planned import Planned
from replax._src.dataset.processes import executed
from replax._src.dataset.seeding import chances
from replax._src.dataset.taking import as_dataset
from replax._src.input.autoshard import Worker, share, warn_of_fallback
from replax._src.input.distributed_dataset import DistributedDataset
from replax._src.input.explain import Explanation, explained, explained_function
from replax._src.input.options import (
    InputContext,
    InputOptions,
    InputReplicationMode,
)
from replax._src.input.peers import Peers
from replax._src.input.supply import Supply
from replax._src.replica import scope
from replax._src.topology.topology import Topology

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
        raise NotImplementedError(msg)
    what = "experimental_distribute_dataset"
    planned = _taken(dataset, what)
    worker, replicas = _worker(place.topology)
    plan = _plan(planned)
    _agree_on_seeds(plan, place.topology)
    shared = share(plan, _policy(planned), worker)
    if worker.workers > 1:
        warn_of_fallback(shared)
    peers = _peers(place.topology)
    supply = Supply.of_share(shared, worker, replicas, peers)
    return DistributedDataset(supply, place, options, planned.dialect.text)


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
    _check_placement(options)
    worker, replicas = _worker(place.topology)
    if options.experimental_replication_mode is _PER_REPLICA:
        contexts = [
            InputContext(worker.replicas, replica, worker.replicas)
            for replica in place.topology.local_replicas
        ]
    else:
        contexts = [InputContext(worker.workers, worker.index, worker.replicas)]
    what = "the function of distribute_datasets_from_function"
    made = [_taken(dataset_fn(context), what) for context in contexts]
    plans = [_plan(dataset) for dataset in made]
    supply = Supply.of_function(plans, worker, replicas, _peers(place.topology))
    return DistributedDataset(supply, place, options, made[0].dialect.text)


def explain(dataset: Any, place: scope.Place) -> Explanation:
    """How a dataset reaches the replicas."""
    _, replicas = _worker(place.topology)
    counts = [len(numbers) for numbers in replicas]
    if isinstance(dataset, DistributedDataset):
        supply = dataset.supply
        if supply.share is None:
            return explained_function(supply.plans, supply.cardinality(), counts)
        return explained(supply.share.given, supply.share.asked, counts)
    planned = _taken(dataset, "explain")
    return explained(planned.plan, _policy(planned), counts)


def _policy(planned: Planned) -> AutoShardPolicy:
    return planned.chosen_options.experimental_distribute.auto_shard_policy


def _taken(dataset: Any, what: str) -> Planned:
    """A dataset, of whatever library."""
    if isinstance(dataset, Planned):
        return dataset
    if isinstance(dataset, DistributedDataset):
        msg = (
            f"{what} got {dataset!r}, whose elements are the replicas' parts already; "
            f"loop over it as it is, or give the dataset that it was made from (a "
            f"cell of a notebook that runs twice needs two names for the two)"
        )
        raise TypeError(msg)
    try:
        return as_dataset(dataset)
    except TypeError as error:
        msg = f"{what} got {dataset!r}: {error}"
        raise TypeError(msg) from None


def _plan(dataset: Planned) -> Node:
    return executed(dataset.plan, dataset.chosen_options)


def _worker(topology: Topology) -> tuple[Worker, tuple[tuple[int, ...], ...]]:
    """Which worker this is, and the numbers of the replicas of each."""
    replicas: dict[int, list[int]] = {}
    for replica, device in enumerate(topology.devices):
        replicas.setdefault(device.process_index, []).append(replica)
    index = list(replicas).index(topology.process_index)
    counts = [len(numbers) for numbers in replicas.values()]
    return Worker.among(counts, index), tuple(map(tuple, replicas.values()))


def _peers(topology: Topology) -> Peers | None:
    group = topology.agreement
    if group is None:
        return None
    return Peers(group.coordination, group.timeout, group.watchdog.steps)


def _agree_on_seeds(plan: Node, topology: Topology) -> None:
    """Makes all workers shuffle alike: they take parts of the same order."""
    found = list(chances(plan))
    if topology.agreement is None or all(chance.seeded for chance in found):
        return
    # Told and not compared: an error about another plan is to come from its policy.
    drawn = json.dumps([chance.seed for chance in found])
    said = topology.agreement.exchange(agreement.written("shuffling a dataset"), drawn)
    for chance, seed in zip(found, json.loads(said[0]), strict=False):
        chance.resume(seed, -1)


def _checked(options: InputOptions | None) -> InputOptions:
    if options is None:
        return InputOptions()
    if not isinstance(options, InputOptions):
        msg = f"options is {options!r}; give a replax.distribute.InputOptions, or None"
        raise TypeError(msg)
    return options


def _check_placement(options: InputOptions) -> None:
    """Refuses what TensorFlow refuses: datasets stay on the host all the same."""
    if not options.experimental_place_dataset_on_device:
        return
    if options.experimental_replication_mode is not _PER_REPLICA:
        msg = (
            "experimental_place_dataset_on_device goes with "
            "experimental_replication_mode=InputReplicationMode.PER_REPLICA only"
        )
        raise ValueError(msg)
    if options.experimental_fetch_to_device:
        msg = (
            "with experimental_place_dataset_on_device nothing has to be fetched to "
            "devices; give InputOptions(experimental_fetch_to_device=False, ...) too"
        )
        raise ValueError(msg)
