"""Strategies of TensorFlow 1: those of Replax, with the methods that are gone in 2."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from replax._src.compat.datasets import Dataset
from replax._src.compat.input_iterator import InputIterator
from replax._src.core.deprecation import warn_deprecated
from replax._src.input.options import (
    InputContext,
    InputReplicationMode,
)
from replax._src.replica.reduce_op import ReduceOp
from replax._src.strategies import mirrored, multi_worker_mirrored, one_device, strategy

__all__ = [
    "MirroredStrategy",
    "MultiWorkerMirroredStrategy",
    "OneDeviceStrategy",
    "Strategy",
]


class Strategy(strategy.Strategy):
    """A strategy with the methods of TensorFlow 1, each of which warns.

    Made by one of its kinds, such as :class:`MirroredStrategy`.

    >>> import replax.compat.v1 as tf
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    >>> isinstance(strategy, tf.distribute.Strategy)
    True
    """

    def reduce(self, reduce_op: ReduceOp | str, value: Any, axis: Any = None) -> Any:
        """The sum or mean over the replicas; without ``axis`` over nothing else."""
        return super().reduce(reduce_op, value, axis)

    def experimental_run(
        self, fn: Callable[..., Any], input_iterator: InputIterator | None = None
    ) -> Any:
        """Calls ``fn`` on every replica with what an iterator gives next.

        Args:
          fn: The step.
          input_iterator: What one of the two methods below has made; without it ``fn``
            gets no argument.

        Returns:
          The same as ``run``.
        """
        warn_deprecated("compat.v1.experimental_run")
        args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.run(fn, args)

    def make_dataset_iterator(self, dataset: Any) -> InputIterator:
        """An iterator over batches, of each of which every replica gets its part.

        Args:
          dataset: A dataset of global batches.
        """
        warn_deprecated("compat.v1.make_dataset_iterator")
        return InputIterator(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> InputIterator:
        """An iterator over the dataset that a function makes on each worker.

        Args:
          input_fn: Given an ``InputContext``, returns a dataset of batches of one
            replica.
          replication_mode: ``PER_WORKER``.
        """
        warn_deprecated("compat.v1.make_input_fn_iterator")
        if replication_mode is not InputReplicationMode.PER_WORKER:
            msg = (
                f"replication_mode is {replication_mode!r}, and make_input_fn_iterator "
                f"makes one dataset a worker (PER_WORKER); for one a replica use "
                f"distribute_datasets_from_function with InputOptions"
            )
            raise ValueError(msg)
        return InputIterator(self.distribute_datasets_from_function(input_fn))

    def experimental_make_numpy_dataset(
        self, numpy_input: Any, session: Any = None
    ) -> Any:
        """A dataset of the rows of NumPy arrays.

        Args:
          numpy_input: A nest of arrays of the same length. A list of arrays is stacked
            to one.
          session: Accepted. In TensorFlow it copies the arrays into variables of a
            graph; here a dataset reads them from where they are.
        """
        warn_deprecated("compat.v1.experimental_make_numpy_dataset")
        if session is not None:
            message = (
                f"experimental_make_numpy_dataset was given the session {session!r}, "
                f"which has nothing to do: the dataset reads the arrays from where "
                f"they are; leave it out"
            )
            warnings.warn(message, UserWarning, stacklevel=2)
        return Dataset.from_tensor_slices(numpy_input)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of a session's configuration, in which nothing has to be changed."""
        warn_deprecated("compat.v1.update_config_proto")
        return copy.deepcopy(config_proto)


class MirroredStrategy(Strategy, mirrored.MirroredStrategy):
    """``replax.distribute.MirroredStrategy`` with the methods of TensorFlow 1.

    >>> import replax.compat.v1 as tf
    >>> strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    >>> context = tf.distribute.get_replica_context
    >>> ids = strategy.run(lambda: context().replica_id_in_sync_group)
    >>> int(strategy.reduce("SUM", ids))
    1
    """


class OneDeviceStrategy(Strategy, one_device.OneDeviceStrategy):
    """``replax.distribute.OneDeviceStrategy`` with the methods of TensorFlow 1.

    >>> import replax.compat.v1 as tf
    >>> tf.distribute.OneDeviceStrategy("/cpu:0").num_replicas_in_sync
    1
    """


class MultiWorkerMirroredStrategy(
    Strategy, multi_worker_mirrored.ExperimentalMultiWorkerMirroredStrategy
):
    """``MultiWorkerMirroredStrategy`` with the methods of TensorFlow 1.

    >>> import replax.compat.v1 as tf
    >>> strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    >>> strategy.num_replicas_in_sync == len(tf.config.list_logical_devices("CPU"))
    True
    """
