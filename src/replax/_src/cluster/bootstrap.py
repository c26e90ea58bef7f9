"""Joining the group of processes: ``jax.distributed`` is initialised here, once."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator

import jax

from replax._src.cluster.addresses import host_of, port_of
from replax._src.cluster.agreement import Agreement
from replax._src.cluster.coordination import Coordination
from replax._src.cluster.group import Group
from replax._src.cluster.own_address import own_address
from replax._src.cluster.own_gpus import own_gpus
from replax._src.cluster.own_port import require_free
from replax._src.cluster.waiting import telling
from replax._src.cluster.watchdog import timeout_of
from replax._src.core import jax_compat
from replax._src.core.errors import DeadlineExceededError, UnavailableError

__all__ = ["join"]

# How long the processes of a group may take to start. Schedulers start them minutes
# apart when machines have to be found first.
START_TIMEOUT = 600
# In seconds; processes may begin to wait so long before process 0 does.
_MARGIN = 5

# Where XLA reads how many cores there are, when it opens CPU devices.
_XLA_CORES = "PJRT_NPROC"
_CORES = frozenset({_XLA_CORES, "NPROC"})
_HAS_AFFINITY = hasattr(os, "sched_getaffinity")

# Where JAX reads at which other address process 0 is to listen.
_BIND_ADDRESS = "JAX_COORDINATOR_BIND_ADDRESS"


class _Joined:
    group: Group | None = None
    agreement: Agreement | None = None


_lock = threading.Lock()


def join(group: Group, timeout: int = START_TIMEOUT) -> Agreement:
    """Makes this process a member of ``group``; once, before devices are opened.

    Args:
      group: Who takes part, and which of them this process is.
      timeout: For how many seconds to wait for the others.

    Returns:
      How the processes agree on what they do together. Joining the same group again
      gives the same one.
    """
    with _lock:
        if _Joined.agreement is None:
            stall_timeout = timeout_of(os.environ)
            _initialise(group, timeout)
            coordination = Coordination.of_process()
            assert coordination is not None
            _Joined.agreement = Agreement(coordination)
            _Joined.agreement.start(stall_timeout)
        elif _Joined.group is not None and _place(_Joined.group) != _place(group):
            msg = (
                f"this process has joined {_described(_Joined.group)}, and is now to "
                f"be of {_described(group)}; a process belongs to one group for as "
                f"long as it lives, so start another process for the other group"
            )
            raise RuntimeError(msg)
        _Joined.group = group
        return _Joined.agreement


def _initialise(group: Group, timeout: int) -> None:
    if jax_compat.distributed_client() is not None:
        _require_joined_as(group)
        return
    if jax_compat.backends_are_initialized():
        msg = (
            f"this process is to be {_described(group)}, but JAX has opened its "
            f"devices already, after which they cannot be joined with those of other "
            f"processes; create the MultiWorkerMirroredStrategy before the first "
            f"array, variable and other strategy is made and before devices are "
            f"listed: move the line that creates it to the top of the program"
        )
        raise RuntimeError(msg)
    _choose_collectives(group)
    coordinator = group.coordinator_address or ""
    is_first = group.process_id == 0
    if is_first:
        _require_port(group)
    try:
        with (
            telling(_described(group), coordinator, timeout, here=is_first),
            jax_compat.service_waits(timeout),
        ):
            jax.distributed.initialize(
                coordinator_address=coordinator,
                num_processes=group.num_processes,
                process_id=group.process_id,
                local_device_ids=own_gpus(
                    os.environ, group.local_process_id, group.processes_here
                ),
                # Which processes there are is known; nothing is left to be detected.
                cluster_detection_method="deactivate",
                # The service is to be the first to give up: it knows who is missing.
                initialization_timeout=timeout + _MARGIN,
            )
    except RuntimeError as error:
        raise _not_joined(group, timeout, error) from error
    with _share_of_cores(_neighbours(group)):
        jax.local_devices()


def _choose_collectives(group: Group) -> None:
    """Lets CPU devices reach those of other processes, unless it was chosen how."""
    if jax_compat.setting("jax_cpu_collectives_implementation") is None:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    address = own_address(group)
    if address is not None:
        jax_compat.let_gloo_listen_at(address)


def _neighbours(group: Group) -> int:
    """How many processes of the group are on this machine, this one included."""
    hosts = [host_of(address) for address in group.addresses]
    if len(hosts) != group.num_processes:
        return 1  # not known
    return hosts.count(hosts[group.process_id])


@contextlib.contextmanager
def _share_of_cores(processes: int) -> Generator[None]:
    """Lets XLA for CPUs start as many threads as this process has cores to itself.

    As many as there are cores, in each process, wait for each other's turns: a step of
    a small model then takes a third longer.
    """
    if processes == 1 or not _CORES.isdisjoint(os.environ):
        yield
        return
    cores = len(os.sched_getaffinity(0)) if _HAS_AFFINITY else os.cpu_count() or 1
    os.environ[_XLA_CORES] = str(max(1, cores // processes))
    try:
        yield
    finally:
        del os.environ[_XLA_CORES]


def _require_joined_as(group: Group) -> None:
    """Accepts a group that the program has joined by itself, if it is this one."""
    rank_and_size = jax_compat.distributed_rank_and_size()
    if rank_and_size != (group.process_id, group.num_processes):
        rank, size = rank_and_size
        msg = (
            f"jax.distributed.initialize was called as process {rank} of {size}, but "
            f"the cluster says that this is {_described(group)}; leave the call out, "
            f"the strategy makes it"
        )
        raise RuntimeError(msg)


def _require_port(group: Group) -> None:
    port = port_of(group.coordinator_address or "")
    if port is None or _BIND_ADDRESS in os.environ:
        return
    try:
        require_free(port)
    except OSError as error:
        msg = (
            f"{_described(group)} could not join at {group.coordinator_address}, for "
            f"it cannot listen at port {port} ({error}); another program has the port, "
            f"perhaps an earlier run that has not ended: end it, or give process 0 "
            f"another port"
        )
        raise UnavailableError(msg) from error


def _not_joined(group: Group, timeout: int, error: Exception) -> Exception:
    what = f"{_described(group)} could not join at {group.coordinator_address}"
    if "DEADLINE_EXCEEDED" in str(error):
        msg = (
            f"{what} within {timeout} s; check that all {group.num_processes} "
            f"processes are started and that process 0 can be reached there: {error}"
        )
        return DeadlineExceededError(msg)
    return UnavailableError(f"{what}: {error}")


def _place(group: Group) -> tuple[str | None, int, int]:
    return group.coordinator_address, group.num_processes, group.process_id


def _described(group: Group) -> str:
    return (
        f"process {group.process_id} of {group.num_processes} "
        f"({group.task_type} {group.task_id})"
    )
