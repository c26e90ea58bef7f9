"""What programs say about distributed input, and what they are told."""

from __future__ import annotations

import dataclasses
import enum

__all__ = ["InputContext", "InputOptions", "InputReplicationMode"]


class InputReplicationMode(enum.Enum):
    """How often a dataset function is called.

    With ``PER_WORKER`` it is called once for each process, whose replicas share the
    dataset; with ``PER_REPLICA`` once for each replica.

    >>> import replax
    >>> replax.distribute.InputReplicationMode("PER_REPLICA").name
    'PER_REPLICA'
    """

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


@dataclasses.dataclass(frozen=True)
class InputOptions:
    """How a distributed dataset hands out its elements.

    Args:
      experimental_fetch_to_device: Whether elements are put on the replicas' devices
        ahead of their use, which is the default; else they stay on the host until a
        step uses them.
      experimental_replication_mode: How often a dataset function is called.
      experimental_place_dataset_on_device: Whether the dataset itself is to be on the
        device; it goes with ``PER_REPLICA`` only, and datasets stay on the host all
        the same.
      experimental_per_replica_buffer_size: How many steps are made ready ahead; as
        many as there are replicas if it is 1, the default.

    >>> import replax
    >>> options = replax.distribute.InputOptions(experimental_fetch_to_device=False)
    >>> options.experimental_replication_mode.name
    'PER_WORKER'
    """

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = (
        InputReplicationMode.PER_WORKER
    )
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1

    def __post_init__(self) -> None:
        if self.experimental_fetch_to_device is None:
            object.__setattr__(self, "experimental_fetch_to_device", True)
        if not isinstance(self.experimental_replication_mode, InputReplicationMode):
            msg = (
                f"experimental_replication_mode is "
                f"{self.experimental_replication_mode!r}; give "
                f"InputReplicationMode.PER_WORKER or InputReplicationMode.PER_REPLICA"
            )
            raise TypeError(msg)
        size = self.experimental_per_replica_buffer_size
        if type(size) is not int or size < 1:
            msg = (
                f"experimental_per_replica_buffer_size is {size!r}; give how many "
                f"steps to make ready ahead, 1 or more"
            )
            raise ValueError(msg)


@dataclasses.dataclass(frozen=True)
class InputContext:
    """Which part of the input a dataset function is asked for.

    Attributes:
      num_input_pipelines: How many datasets are made, one for each process.
      input_pipeline_id: Which of them this is, from 0.
      num_replicas_in_sync: Over how many replicas a step runs.

    >>> import replax
    >>> context = replax.distribute.InputContext(2, 1, num_replicas_in_sync=8)
    >>> context.get_per_replica_batch_size(64)
    8
    """

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The batch of one replica, of a batch over all replicas.

        Raises:
          ValueError: It does not divide.
        """
        replicas = self.num_replicas_in_sync
        if global_batch_size % replicas:
            low = global_batch_size // replicas * replicas
            msg = (
                f"a global batch of {global_batch_size} does not divide by "
                f"{replicas} replicas; use {low + replicas} (or {low}), or let "
                f"experimental_distribute_dataset split batches of any size"
            )
            raise ValueError(msg)
        return global_batch_size // replicas

    def __str__(self) -> str:
        return (
            f"InputContext(input pipeline id {self.input_pipeline_id}, "
            f"total: {self.num_input_pipelines})"
        )
