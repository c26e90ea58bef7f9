"""Slurm: the tasks of a job step."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, MutableMapping

from replax._src.cluster.group import TRAINING, Group
from replax._src.cluster.resolver import AddressedClusterResolver
from replax._src.cluster.slurm_gpus import VISIBLE, gpus_of_node, gpus_of_task
from replax._src.cluster.slurm_step import (
    DISTRIBUTION,
    NODES,
    TASKS,
    SlurmStep,
    number_of_tasks,
)
from replax._src.cluster.spec import ClusterSpec

__all__ = ["SlurmClusterResolver"]


class SlurmClusterResolver(AddressedClusterResolver):
    """The tasks that ``srun`` has started, by their environment variables.

    ``cluster_spec()`` goes through the hosts by name, as TensorFlow does; the process
    group is where Slurm has put the tasks.

    Args:
      jobs: How many tasks each job has; all are workers if left out. Jobs are given
        tasks in the order of their names.
      port_base: The port of the first task on each node; the next ones follow.
      gpus_per_node: How many GPUs a node has; if left out, those that this process
        sees.
      gpus_per_task: How many GPUs a task has; if left out, a node's are divided.
      tasks_per_node: A number, or a number for each host, if they are not those that
        Slurm says.
      auto_set_gpu: Whether ``cluster_spec()`` sets CUDA_VISIBLE_DEVICES to this task's
        part of the GPUs.
      rpc_layer: The protocol that ``master`` puts before addresses.
      environ: The variables to read; those of this process if left out.

    Raises:
      RuntimeError: A variable is missing, or there are not so many tasks or GPUs.

    >>> from replax.distribute.cluster_resolver import SlurmClusterResolver
    >>> step = {
    ...     "SLURM_PROCID": "2",
    ...     "SLURM_STEP_NUM_TASKS": "3",
    ...     "SLURM_STEP_NODELIST": "n[09-10]",
    ...     "SLURM_STEP_TASKS_PER_NODE": "2,1",
    ... }
    >>> resolver = SlurmClusterResolver(environ=step)
    >>> resolver.cluster_spec()
    ClusterSpec({'worker': ['n09:8888', 'n09:8889', 'n10:8888']})
    >>> resolver.task_id
    2
    """

    def __init__(  # noqa: PLR0913 - TensorFlow's arguments
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | Mapping[str, int] | None = None,
        auto_set_gpu: bool = True,  # noqa: FBT001, FBT002 - as there
        rpc_layer: str | None = "grpc",
        *,
        environ: MutableMapping[str, str] | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        all_workers = {"worker": number_of_tasks(self._environ)} if jobs is None else {}
        self._jobs = dict(sorted((jobs or all_workers).items()))
        self._step = SlurmStep.of_environ(self._environ, tasks_per_node)
        self._check_tasks(TASKS if all_workers else "jobs")
        self._port_base = port_base
        self._rpc_layer = rpc_layer
        self._task_type, self._task_id = self._own_task()
        self._given_gpus = gpus_per_node, gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        if gpus_per_task is not None:
            self._check_gpus(gpus_per_task)

    def cluster_spec(self) -> ClusterSpec:
        """The tasks by job, in the order of the names of their hosts."""
        if self._auto_set_gpu and self._gpus_per_task > 0:
            self._environ[VISIBLE] = gpus_of_task(
                self._visible, self._step.index_on_node, self._gpus_per_task
            )
        return self._spec(by_name=True)

    def process_group(self) -> Group:
        """The processes that train together, where Slurm has put them."""
        group = Group.of_spec(
            self._spec(by_name=False),
            self.task_type,
            self.task_id,
            source=NODES,
            local_process_id=self._step.local_rank,
        )
        first = self._first_of_training()
        if not group.is_local and first > 0 and not self._step.in_blocks:
            msg = (
                f"{DISTRIBUTION} is {self._step.distribution!r}, so the first worker, "
                f"task {first} of the step, can be on any node; start the step with "
                f"srun --distribution=block"
            )
            raise ValueError(msg)
        return dataclasses.replace(group, processes_here=self._step.tasks_here)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """The job of this process, and its index in it."""
        return self.task_type, self.task_id

    def num_accelerators(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        config_proto: object = None,
    ) -> dict[str, int]:
        """How many GPUs each task has."""
        del task_type, task_id, config_proto
        return {"GPU": self._gpus_per_task}

    def _spec(self, *, by_name: bool) -> ClusterSpec:
        addresses = iter(self._step.addresses(self._port_base, by_name=by_name))
        return ClusterSpec(
            {
                job: [next(addresses) for _ in range(count)]
                for job, count in self._jobs.items()
            }
        )

    def _own_task(self) -> tuple[str, int]:
        """The job of this process, and its index in it."""
        index = self._step.rank
        for job, count in self._jobs.items():
            if index < count:
                return job, index
            index -= count
        raise AssertionError  # The rank is one of the tasks.

    def _first_of_training(self) -> int:
        """The number of the step's first task that trains."""
        before = 0
        for job, count in self._jobs.items():
            if job in TRAINING:
                break
            before += count
        return before

    def _check_tasks(self, source: str) -> None:
        wanted, there = sum(self._jobs.values()), self._step.num_tasks
        if wanted != there:
            msg = (
                f"{source} has {wanted} tasks ({self._jobs}), and the nodes of the "
                f"Slurm step have {there}; give jobs that have {there}, or start the "
                f"step with srun --ntasks={wanted}"
            )
            raise RuntimeError(msg)
        if self._step.rank >= there:
            msg = (
                f"SLURM_PROCID is {self._step.rank}, and the Slurm step has {there} "
                f"tasks; it has to be from 0 to {there - 1}"
            )
            raise RuntimeError(msg)

    @functools.cached_property
    def _visible(self) -> list[str]:
        """The GPUs of this node, as they were before this task took its part."""
        return gpus_of_node(self._environ, self._given_gpus[0])

    @property
    def _gpus_per_task(self) -> int:
        given = self._given_gpus[1]
        most = max(self._step.tasks_on.values())
        return len(self._visible) // most if given is None else given

    def _check_gpus(self, per_task: int) -> None:
        most, there = max(self._step.tasks_on.values()), len(self._visible)
        if most * per_task > there:
            msg = (
                f"{most} tasks on a node, with {per_task} GPUs each, need "
                f"{most * per_task}, and a node has {there}; give "
                f"gpus_per_task={there // most}, or start fewer tasks on each"
            )
            raise RuntimeError(msg)
