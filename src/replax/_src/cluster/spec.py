"""Which tasks a cluster has, and where each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

__all__ = ["ClusterSpec"]


class ClusterSpec:
    """The tasks of a cluster, by job and index, with their addresses.

    Args:
      cluster: For each job a list of addresses, or a dict from indices to addresses if
        only some of its tasks are known; or another ``ClusterSpec``.

    >>> import replax
    >>> spec = replax.distribute.cluster_resolver.ClusterSpec(
    ...     {"worker": ["one:2222", "two:2222"], "ps": {1: "three:2222"}}
    ... )
    >>> spec.num_tasks("worker"), spec.task_address("ps", 1)
    (2, 'three:2222')
    """

    def __init__(self, cluster: Mapping[str, Any] | ClusterSpec) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = dict(sorted(cluster.as_dict().items()))
        if not isinstance(cluster, Mapping):
            msg = (
                f"ClusterSpec got {cluster!r}, a {type(cluster).__name__}, where it "
                f"needs a dict of jobs; write "
                f'ClusterSpec({{"worker": ["host:port", ...]}})'
            )
            raise TypeError(msg)
        self._tasks = {_job(job): _tasks(job, tasks) for job, tasks in cluster.items()}

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return self._tasks == (
            other._tasks if isinstance(other, ClusterSpec) else other
        )

    # It stands for a dict, and is compared like one.
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        jobs = self.as_dict()
        inside = ", ".join(f"{job!r}: {jobs[job]!r}" for job in sorted(jobs))
        return f"ClusterSpec({{{inside}}})"

    def as_dict(self) -> dict[str, list[str] | dict[int, str]]:
        """The addresses by job: a list, or a dict if some indices are left out."""
        return {
            job: list(tasks.values())
            if tasks and list(tasks) == list(range(len(tasks)))
            else dict(tasks)
            for job, tasks in self._tasks.items()
        }

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._tasks)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks of a job there are."""
        return len(self._of_job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of the tasks of a job, ascending."""
        return list(self._of_job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of one task."""
        tasks = self._of_job(job_name)
        if task_index not in tasks:
            msg = (
                f"there is no task {task_index!r} in the job {job_name!r}; its tasks "
                f"are {', '.join(map(str, tasks)) or 'none'}"
            )
            raise ValueError(msg)
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job by index, with None for an index that is left out."""
        tasks = self._of_job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _of_job(self, name: str) -> dict[int, str]:
        if name not in self._tasks:
            msg = (
                f"there is no job {name!r} in the cluster; its jobs are "
                f"{', '.join(map(repr, self._tasks)) or 'none'}"
            )
            raise ValueError(msg)
        return self._tasks[name]


def _job(name: object) -> str:
    if not isinstance(name, str):
        msg = (
            f"ClusterSpec got the job {name!r}, a {type(name).__name__}; jobs have "
            f'names, such as "worker"'
        )
        raise TypeError(msg)
    return name


def _tasks(job: str, tasks: object) -> dict[int, str]:
    if isinstance(tasks, Mapping):
        given = cast("Mapping[Any, object]", tasks).items()
    elif isinstance(tasks, Sequence) and not isinstance(tasks, str | bytes):
        given = enumerate(cast("Sequence[object]", tasks))
    else:
        msg = (
            f"ClusterSpec got {tasks!r} as the tasks of {job!r}, a "
            f'{type(tasks).__name__}; write a list of addresses, ["host:port", ...], '
            f"or a dict from indices to addresses"
        )
        raise TypeError(msg)
    numbered = {int(index): _address(job, index, address) for index, address in given}
    return dict(sorted(numbered.items()))


def _address(job: str, index: object, address: object) -> str:
    if not isinstance(address, str):
        msg = (
            f"ClusterSpec got {address!r}, a {type(address).__name__}, as the address "
            f'of task {index} of {job!r}; an address is a string, such as "host:port"'
        )
        raise TypeError(msg)
    return address
