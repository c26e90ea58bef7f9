"""Strategies, and what programs that use them need."""

from typing import TYPE_CHECKING

from replax._src.compat.advice import advice_for_attribute as _advice
from replax._src.core.loading import loaded_later as _loaded_later
from replax._src.input.options import (
    InputContext,
    InputOptions,
    InputReplicationMode,
)

# Importing it is what makes Keras, if it is there, know of scopes.
from replax._src.keras import arrival as _arrival  # noqa: F401  # pyright: ignore[reportUnusedImport]
from replax._src.replica.reduce_op import ReduceOp
from replax._src.replica.replica_context import ReplicaContext
from replax._src.strategies.cross_device_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReductionToOneDevice,
)
from replax._src.strategies.current import (
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from replax._src.strategies.extended import StrategyExtended
from replax._src.strategies.mirrored import MirroredStrategy
from replax._src.strategies.multi_worker_mirrored import MultiWorkerMirroredStrategy
from replax._src.strategies.one_device import OneDeviceStrategy
from replax._src.strategies.run_options import RunOptions
from replax._src.strategies.strategy import Strategy
from replax._src.topology.topology import REPLICA_AXIS
from replax._src.values.distributed import DistributedValues, Mirrored, PerReplica
from replax.distribute import cluster_resolver, experimental

if TYPE_CHECKING:
    from replax._src.input.distributed_dataset import (
        DistributedDataset,
        DistributedIterator,
    )
    from replax._src.input.explain import Explanation

__all__ = [
    "REPLICA_AXIS",
    "CrossDeviceOps",
    "DistributedDataset",
    "DistributedIterator",
    "DistributedValues",
    "Explanation",
    "HierarchicalCopyAllReduce",
    "InputContext",
    "InputOptions",
    "InputReplicationMode",
    "Mirrored",
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
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
    home = "replax._src.input.distributed_dataset"
    homes = {
        "DistributedDataset": home,
        "DistributedIterator": home,
        "Explanation": "replax._src.input.explain",
    }
    return _loaded_later(__name__, name, homes, _advice)
