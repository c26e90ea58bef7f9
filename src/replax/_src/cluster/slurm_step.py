"""A job step of Slurm: its tasks, and where they run."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

from replax._src.cluster.slurm_lists import counts_in, hosts_in
from replax._src.cluster.variables import number_in

__all__ = ["SlurmStep", "number_of_tasks"]

RANK = "SLURM_PROCID"
LOCAL_RANK = "SLURM_LOCALID"
TASKS = "SLURM_STEP_NUM_TASKS"
NODES = "SLURM_STEP_NODELIST"
TASKS_PER_NODE = "SLURM_STEP_TASKS_PER_NODE"
DISTRIBUTION = "SLURM_DISTRIBUTION"


@dataclasses.dataclass(frozen=True)
class SlurmStep:
    """What the variables of a step say.

    Attributes:
      rank: Which task this process is.
      local_rank: Which of those on its node, if Slurm says it.
      tasks_on: How many tasks each host has; the hosts in Slurm's order where known.
      distribution: How Slurm has dealt tasks to nodes.
    """

    rank: int
    local_rank: int | None
    tasks_on: Mapping[str, int]
    distribution: str

    @classmethod
    def of_environ(
        cls,
        environ: Mapping[str, str],
        tasks_per_node: int | Mapping[str, int] | None = None,
    ) -> SlurmStep:
        """Reads the variables.

        Args:
          environ: Where they are.
          tasks_per_node: A number, or one for each host, in place of what Slurm says.

        Raises:
          RuntimeError: One is missing.
          ValueError: One is there and cannot be right.
        """
        return cls(
            _number(environ, RANK),
            number_in(environ, LOCAL_RANK) if LOCAL_RANK in environ else None,
            _tasks_on(environ, tasks_per_node),
            environ.get(DISTRIBUTION, "block"),
        )

    @property
    def num_tasks(self) -> int:
        """How many tasks the step has."""
        return sum(self.tasks_on.values())

    @property
    def in_blocks(self) -> bool:
        """Whether each node has tasks that follow one another."""
        one_each = max(self.tasks_on.values()) == 1
        block = self.distribution.startswith("block")
        return block or one_each or len(self.tasks_on) == 1

    @property
    def index_on_node(self) -> int:
        """Which of the tasks on its node this is."""
        if self.local_rank is not None:
            return self.local_rank
        before = 0
        for count in self.tasks_on.values():
            if self.rank < before + count:
                break
            before += count
        return self.rank - before

    @property
    def tasks_here(self) -> int | None:
        """How many tasks the node of this one has, if that can be told."""
        counts = list(self.tasks_on.values())
        if len(set(counts)) == 1:
            return counts[0]
        if not self.in_blocks:
            return None
        ends = itertools.accumulate(counts)
        return next(
            (n for n, end in zip(counts, ends, strict=True) if self.rank < end), None
        )

    def addresses(self, port_base: int, *, by_name: bool) -> list[str]:
        """Addresses for all tasks, node after node.

        Args:
          port_base: The port of the first task on each node.
          by_name: Whether nodes come in the order of their names, or in Slurm's.
        """
        hosts = sorted(self.tasks_on) if by_name else list(self.tasks_on)
        return [
            f"{host}:{port_base + i}"
            for host in hosts
            for i in range(self.tasks_on[host])
        ]


def number_of_tasks(environ: Mapping[str, str]) -> int:
    """How many tasks the step has, as Slurm says it."""
    return _number(environ, TASKS)


def _tasks_on(
    environ: Mapping[str, str], tasks_per_node: int | Mapping[str, int] | None
) -> dict[str, int]:
    if isinstance(tasks_per_node, Mapping):
        known = hosts_in(environ[NODES], NODES) if NODES in environ else []
        same = set(known) == set(tasks_per_node)
        order = known if same else sorted(tasks_per_node)
        return {host: tasks_per_node[host] for host in order}
    hosts = hosts_in(_text(environ, NODES), NODES)
    if tasks_per_node is not None:
        return dict.fromkeys(hosts, int(tasks_per_node))
    counts = counts_in(_text(environ, TASKS_PER_NODE), TASKS_PER_NODE)
    if len(counts) != len(hosts):
        msg = (
            f"{TASKS_PER_NODE} is {environ[TASKS_PER_NODE]!r}, for {len(counts)} "
            f"nodes, and {NODES} is {environ[NODES]!r}, which is {len(hosts)}; set "
            f"both as srun does, or give tasks_per_node"
        )
        raise RuntimeError(msg)
    return dict(zip(hosts, counts, strict=True))


def _text(environ: Mapping[str, str], variable: str) -> str:
    if variable not in environ:
        msg = (
            f"{variable} is not set, so this process is not a task of a Slurm step; "
            f"start it with srun"
        )
        raise RuntimeError(msg)
    return environ[variable]


def _number(environ: Mapping[str, str], variable: str) -> int:
    _text(environ, variable)
    return number_in(environ, variable)
