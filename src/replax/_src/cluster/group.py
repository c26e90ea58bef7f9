"""The processes that train together, and which of them this one is."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from replax._src.cluster.addresses import host_of, is_loopback, port_of
from replax._src.cluster.spec import ClusterSpec

__all__ = ["Group"]

# The tasks that train, in the order in which they are numbered.
TRAINING = ("chief", "worker")

# The tasks that belong to a cluster and not to its training group.
ASIDE = ("evaluator", "ps")


@dataclasses.dataclass(frozen=True)
class Group:
    """What a process has to know to join the others of its training group.

    A chief is process 0, the workers follow. An evaluator and a parameter server are
    by themselves, as is the only worker of a cluster.

    Attributes:
      coordinator_address: Where process 0 runs JAX's coordination service, as
        ``host:port``; None if this process is by itself.
      num_processes: How many processes train together, this one included.
      process_id: Which of them this is.
      task_type: Its job, as the resolver says; None if there is no cluster.
      task_id: Its index in its job.
      local_process_id: Which of the processes on its machine this is, if known.
      addresses: The addresses of all processes, as far as they are known.
      processes_here: How many processes its machine has, if the launcher says it.
    """

    coordinator_address: str | None
    num_processes: int
    process_id: int
    task_type: str | None = None
    task_id: int | None = None
    local_process_id: int | None = None
    addresses: tuple[str, ...] = ()
    processes_here: int | None = None

    @property
    def is_local(self) -> bool:
        """Whether there is nobody to train with."""
        return self.num_processes == 1

    @classmethod
    def of_resolver(cls, resolver: _Resolver) -> Group:
        """The group of the task that a cluster resolver describes.

        Raises:
          ValueError: The description cannot be right.
        """
        return resolver.process_group()

    @classmethod
    def by_itself(
        cls, task_type: str | None = None, task_id: int | None = None
    ) -> Group:
        """A process that trains alone."""
        return cls(None, 1, 0, task_type, task_id)

    @classmethod
    def of_spec(
        cls,
        spec: ClusterSpec,
        task_type: str | None,
        task_id: int | None,
        *,
        source: str,
        local_process_id: int | None = None,
    ) -> Group:
        """The group of a task of a cluster whose addresses are known.

        Args:
          spec: The cluster.
          task_type: The job of this process.
          task_id: Its index in that job.
          source: What the cluster was read from, for errors: ``"TF_CONFIG"``.
          local_process_id: Which of the processes on its machine this is, if known.

        Raises:
          ValueError: They do not fit together.
        """
        members = _members(spec, source)
        if not spec or (len(members) <= 1 and task_type is None):
            return cls.by_itself(task_type, task_id)
        task = _check_task(spec, task_type, task_id, source)
        if task[0] in ASIDE or len(members) <= 1:
            return cls.by_itself(*task)
        addresses = tuple(spec.task_address(*member) for member in members)
        _check_addresses(addresses, [_place(source, *m) for m in members], source)
        process_id = members.index(task)
        return cls(
            addresses[0], len(members), process_id, *task, local_process_id, addresses
        )


class _Resolver(Protocol):
    """What a group is made of: any cluster resolver."""

    def process_group(self) -> Group: ...


def _place(source: str, job: str, index: int) -> str:
    """Where in a cluster's description a task stands."""
    return f"{source}: cluster.{job}[{index}]"


def _members(spec: ClusterSpec, source: str) -> list[tuple[str, int]]:
    """The tasks that train, in order."""
    if "master" in spec.jobs:
        msg = (
            f"{source}: cluster has the job 'master', which TensorFlow 1 had; call it "
            f"'chief'"
        )
        raise ValueError(msg)
    if "chief" in spec.jobs and spec.num_tasks("chief") > 1:
        msg = (
            f"{source}: cluster.chief has {spec.num_tasks('chief')} tasks, and a "
            f"cluster has one chief; make the others workers"
        )
        raise ValueError(msg)
    members: list[tuple[str, int]] = []
    for job in TRAINING:
        indices = spec.task_indices(job) if job in spec.jobs else []
        missing = sorted(set(range(max(indices, default=-1) + 1)) - set(indices))
        if missing:
            msg = (
                f"{source}: cluster.{job} has the tasks "
                f"{', '.join(map(str, indices))} and lacks {missing[0]}; workers that "
                f"train together need the addresses of all"
            )
            raise ValueError(msg)
        members += [(job, i) for i in indices]
    return members


def _check_task(
    spec: ClusterSpec, task_type: str | None, task_id: int | None, source: str
) -> tuple[str, int]:
    """The job and index of this process, if they are in the cluster."""
    jobs = ", ".join(map(repr, spec.jobs))
    if task_type is None or task_id is None:
        lacking = "type" if task_type is None else "index"
        msg = (
            f"{source}: task.{lacking} is missing, and the cluster has several tasks "
            f"({jobs}); say which one this process is, for example "
            f'"task": {{"type": "worker", "index": 0}}'
        )
        raise ValueError(msg)
    if task_type == "evaluator":
        return task_type, task_id
    if task_type not in (*TRAINING, *ASIDE):
        msg = (
            f"{source}: task.type is {task_type!r}, which has no role in training; use "
            f"'chief', 'worker', 'ps' or 'evaluator'"
        )
        raise ValueError(msg)
    if task_type not in spec.jobs:
        msg = (
            f"{source}: task.type is {task_type!r}, and the jobs of the cluster are "
            f"{jobs}; use one of them, or add {task_type!r} to the cluster"
        )
        raise ValueError(msg)
    if task_id not in spec.task_indices(task_type):
        indices = spec.task_indices(task_type)
        msg = (
            f"{source}: task.index is {task_id}, and cluster.{task_type} has "
            f"{len(indices)} task{'s'[: len(indices) != 1]}, with indices "
            f"{', '.join(map(str, indices))}; use one of these"
        )
        raise ValueError(msg)
    return task_type, task_id


def _check_addresses(
    addresses: Sequence[str], places: Sequence[str], source: str
) -> None:
    """Each process has an address of its own that the others can reach."""
    for place, address in zip(places, addresses, strict=True):
        _check_address(address, place)
    again = [a for a, times in Counter(addresses).items() if times > 1]
    if again:
        at = [p for p, a in zip(places, addresses, strict=True) if a == again[0]]
        msg = (
            f"{at[0]} and {at[1].partition(': ')[2]} are both {again[0]!r}, and each "
            f"process needs an address of its own; give them different ports"
        )
        raise ValueError(msg)
    hosts = [host_of(address) or "" for address in addresses]
    elsewhere = next((host for host in hosts if not is_loopback(host)), None)
    if is_loopback(hosts[0]) and elsewhere is not None:
        msg = (
            f"{places[0]} is {addresses[0]!r}, which means another machine on each "
            f"machine, and {elsewhere!r} has to reach it; write the name or the IP "
            f"address that the other machines of {source} know it by"
        )
        raise ValueError(msg)


def _check_address(address: str, place: str) -> None:
    if host_of(address) is None:
        what = "has no port" if ":" not in address else "is not host:port"
        msg = (
            f"{place} is {address!r}, which {what}; write host:port, such as "
            f"{address.partition(':')[0] or 'host'}:2222"
        )
        raise ValueError(msg)
    if not 0 < (port_of(address) or 0) < 65536:
        msg = (
            f"{place} is {address!r}, and {port_of(address)} is no port; choose one "
            f"from 1 to 65535"
        )
        raise ValueError(msg)
