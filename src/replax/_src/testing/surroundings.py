"""What processes of a test find around them: their ports and their environment."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import socket
from collections.abc import Generator, Mapping, Sequence

__all__ = ["CurrentProcess", "current_process", "environment_of", "free_ports"]

_VARIABLE = "REPLAX_TESTING_PROCESS"
_HOST = "127.0.0.1"

# They would say something else than what a test says.
_OTHER_CLUSTERS = ("JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_BIND_ADDRESS")
_DEVICE_COUNT = re.compile(r"--xla_force_host_platform_device_count=\S*")


@dataclasses.dataclass(frozen=True)
class CurrentProcess:
    """Which one of the processes of a test this is.

    Attributes:
      rank: Its number, from zero.
      addresses: Of each process a host and a port that is free for its use.

    >>> from replax.testing import current_process, run_processes
    >>> run_processes(2, lambda: current_process().rank).values
    [0, 1]
    """

    rank: int
    addresses: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many processes there are."""
        return len(self.addresses)

    @property
    def coordinator(self) -> str:
        """The address of process 0, such as ``jax.distributed.initialize`` wants."""
        return self.addresses[0]


def current_process() -> CurrentProcess:
    """Which one of the processes of a test this is.

    Raises:
      RuntimeError: It is none of them.

    >>> from replax.testing import current_process, run_processes
    >>> def join():
    ...     import jax
    ...
    ...     process = current_process()
    ...     jax.distributed.initialize(process.coordinator, process.size, process.rank)
    ...     return jax.device_count()
    >>> run_processes(2, join).values
    [2, 2]
    """
    text = os.environ.get(_VARIABLE)
    if text is None:
        raise RuntimeError(
            "this process was not started by run_processes; call current_process in "
            "the function that is given to run_processes"
        )
    rank, addresses = json.loads(text)
    return CurrentProcess(rank, tuple(addresses))


@contextlib.contextmanager
def free_ports(count: int, *, keep: bool) -> Generator[list[str]]:
    """Addresses on this machine at which nobody listens.

    Args:
      count: How many.
      keep: Keeps them from others as long as they are used here. JAX and gRPC can
        listen at them nevertheless, as they share ports: two of their servers at one
        port would otherwise be given connections in turns, in silence. A server that
        does not share its port could not listen at all.
    """
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            if keep and hasattr(socket, "SO_REUSEPORT"):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            # All are bound before any is given back, so that they differ.
            one.bind((_HOST, 0))
        addresses = [f"{_HOST}:{one.getsockname()[1]}" for one in sockets]
        if not keep:
            stack.close()
        yield addresses


def environment_of(
    rank: int,
    addresses: Sequence[str],
    tasks: Sequence[str],
    devices: int | None,
    extra: Mapping[str, str | None],
) -> dict[str, str]:
    """All variables of the environment of one process.

    Args:
      rank: Which one it is.
      addresses: Of all processes.
      tasks: The types of the tasks of all processes.
      devices: How many virtual CPU devices it has; None for the devices there are.
      extra: Further variables, and with None those that it is not to have.
    """
    variables = {k: v for k, v in os.environ.items() if k not in _OTHER_CLUSTERS}
    variables["TF_CONFIG"] = json.dumps(_tf_config(rank, addresses, tasks))
    variables[_VARIABLE] = json.dumps([rank, list(addresses)])
    if devices is not None:
        variables["JAX_PLATFORMS"] = "cpu"
        variables["JAX_NUM_CPU_DEVICES"] = str(devices)
        # JAX takes one or the other.
        flags = _DEVICE_COUNT.sub("", variables.pop("XLA_FLAGS", "")).strip()
        if flags:
            variables["XLA_FLAGS"] = flags
    variables.update({k: v for k, v in extra.items() if v is not None})
    return {k: v for k, v in variables.items() if extra.get(k, v) is not None}


def _tf_config(
    rank: int, addresses: Sequence[str], tasks: Sequence[str]
) -> dict[str, object]:
    cluster: dict[str, list[str]] = {}
    for address, task in zip(addresses, tasks, strict=True):
        # An evaluator looks on from outside.
        if task != "evaluator":
            cluster.setdefault(task, []).append(address)
    index = tasks[:rank].count(tasks[rank])
    return {"cluster": cluster, "task": {"type": tasks[rank], "index": index}}
