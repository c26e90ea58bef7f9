"""Strategies, with the methods that TensorFlow 1 has too."""

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.compat.input_iterator import InputIterator
from replax._src.compat.strategies import (
    MirroredStrategy,
    OneDeviceStrategy,
    Strategy,
)
from replax._src.core.loading import loaded_later as _loaded_later
from replax._src.input.distributed_dataset import (
    DistributedDataset,
    DistributedIterator,
)
from replax.compat.v1.distribute import experimental
from replax.distribute import (
    REPLICA_AXIS,
    CrossDeviceOps,
    DistributedValues,
    HierarchicalCopyAllReduce,
    InputContext,
    InputOptions,
    InputReplicationMode,
    Mirrored,
    NcclAllReduce,
    PerReplica,
    ReduceOp,
    ReductionToOneDevice,
    ReplicaContext,
    RunOptions,
    StrategyExtended,
    cluster_resolver,
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)

__all__ = [
    "REPLICA_AXIS",
    "CrossDeviceOps",
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputIterator",
    "InputOptions",
    "InputReplicationMode",
    "Mirrored",
    "MirroredStrategy",
    "NcclAllReduce",
    "OneDeviceStrategy",
    "PerReplica",
    "ReduceOp",
    "ReductionToOneDevice",
    "ReplicaContext",
    "RunOptions",
    "Strategy",
    "StrategyExtended",
    "cluster_resolver",
    "experimental",
    "experimental_set_strategy",
    "get_replica_context",
    "get_strategy",
    "has_strategy",
    "in_cross_replica_context",
]


def __getattr__(name: str) -> object:
    return _loaded_later(__name__, name, {}, _advice)
