"""What the variables of each kind of cluster mean, and when they mean nothing."""

from __future__ import annotations

from collections.abc import Mapping

from replax._src.cluster.addresses import PORT, bracketed
from replax._src.cluster.launched import LaunchedClusterResolver
from replax._src.cluster.of_jax import JaxClusterResolver
from replax._src.cluster.slurm import SlurmClusterResolver
from replax._src.cluster.tf_config import TFConfigClusterResolver
from replax._src.cluster.tpu import HOSTNAMES, TPUClusterResolver
from replax._src.cluster.variables import (
    are_not_set,
    number_in,
    number_or_none,
    port_in,
    present,
    size_in,
)
from replax._src.cluster.verdict import Verdict

__all__ = [
    "look_for_kubernetes",
    "look_for_open_mpi",
    "look_for_slurm",
    "look_for_tf_config",
    "look_for_torchrun",
    "look_for_tpu_pod",
]

_COORDINATOR = ("MASTER_ADDR", "MASTER_PORT")


def look_for_tf_config(environ: Mapping[str, str]) -> Verdict:
    """TF_CONFIG, if it has a cluster."""
    name = "TF_CONFIG"
    seen = present(environ, [name])
    if not seen:
        return Verdict(name, "TF_CONFIG is not set")
    resolver = TFConfigClusterResolver(environ=environ)
    if not resolver.cluster_spec():
        return Verdict(name, "TF_CONFIG names no cluster", seen)
    resolver.process_group()
    return Verdict(name, "TF_CONFIG describes the cluster", seen, resolver)


def look_for_torchrun(environ: Mapping[str, str]) -> Verdict:
    """The variables that torchrun sets, and other launchers after it."""
    name, needed = "torchrun", (*_COORDINATOR, "RANK", "WORLD_SIZE")
    agent = "TORCHELASTIC_USE_AGENT_STORE"
    seen = present(environ, [*needed, "LOCAL_RANK", "LOCAL_WORLD_SIZE", agent, PORT])
    missing = are_not_set(seen, needed)
    if missing:
        return Verdict(name, missing, seen)
    size = size_in(seen, "WORLD_SIZE")
    port = port_in(seen, "MASTER_PORT")
    if seen.get(agent, "").lower() in {"true", "1"}:
        # torchrun's own agent listens there.
        port = port + 1 if port < 65535 else port - 1
    resolver = LaunchedClusterResolver(
        _coordinator(seen, port),
        size,
        number_in(seen, "RANK", below=size),
        local_id=number_or_none(seen, "LOCAL_RANK"),
        workers_here=number_or_none(seen, "LOCAL_WORLD_SIZE"),
        source="MASTER_ADDR",
    )
    resolver.process_group()
    return Verdict(name, f"RANK {seen['RANK']} of WORLD_SIZE {size}", seen, resolver)


def look_for_slurm(environ: Mapping[str, str]) -> Verdict:
    """The variables of a task of a job step.

    A shell on a node of a job, by ssh or by ``salloc``, has only some of them.
    """
    name = "Slurm"
    needed = (
        "SLURM_JOB_ID",
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_STEP_NODELIST",
        "SLURM_STEP_TASKS_PER_NODE",
    )
    also = ("SLURM_LOCALID", "SLURM_STEP_ID", "SLURM_DISTRIBUTION", "SLURM_PTY_PORT")
    seen = present(environ, [*needed, *also, PORT])
    missing = are_not_set(seen, needed)
    if missing:
        part = "; this is no task of a step, which srun starts"
        return Verdict(name, missing + (part if "SLURM_JOB_ID" in seen else ""), seen)
    if "SLURM_PTY_PORT" in seen:
        why = "SLURM_PTY_PORT is set; this is an interactive shell, and has no peers"
        return Verdict(name, why, seen)
    if "OMPI_COMM_WORLD_RANK" in environ:
        why = "OMPI_COMM_WORLD_RANK is set; mpirun started this process in the step"
        return Verdict(name, why, seen)
    size = size_in(seen, "SLURM_STEP_NUM_TASKS")
    number_in(seen, "SLURM_PROCID", below=size)
    resolver = SlurmClusterResolver(
        port_base=_port_of_step(seen),
        auto_set_gpu=False,
        rpc_layer=None,
        environ=dict(environ),
    )
    resolver.process_group()
    why = f"SLURM_PROCID {seen['SLURM_PROCID']} of SLURM_STEP_NUM_TASKS {size}"
    return Verdict(name, why, seen, resolver)


def look_for_open_mpi(environ: Mapping[str, str]) -> Verdict:
    """The variables of a process that ``mpirun`` started.

    Where the coordinator is, JAX finds in a variable of Open MPI up to its version 4;
    MASTER_ADDR and MASTER_PORT say it for all.
    """
    name, uri = "Open MPI", "OMPI_MCA_orte_hnp_uri"
    needed = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
    local = ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")
    seen = present(environ, [*needed, *local, uri, *_COORDINATOR, PORT])
    missing = are_not_set(seen, needed)
    if missing:
        return Verdict(name, missing, seen)
    size = size_in(seen, needed[1])
    rank = number_in(seen, needed[0], below=size)
    why = f"{needed[0]} {rank} of {needed[1]} {size}"
    if not are_not_set(seen, _COORDINATOR):
        launched = LaunchedClusterResolver(
            _coordinator(seen, port_in(seen, "MASTER_PORT")),
            size,
            rank,
            local_id=number_or_none(seen, local[0]),
            workers_here=number_or_none(seen, local[1]),
            source="MASTER_ADDR",
        )
        launched.process_group()
        return Verdict(name, f"{why}, at MASTER_ADDR", seen, launched)
    if size == 1:
        return Verdict(name, "OMPI_COMM_WORLD_SIZE is 1; there are no peers", seen)
    if uri not in seen:
        # These are certainly peers: to train apart without a word would be worse.
        msg = (
            f"OMPI_COMM_WORLD_SIZE is {size}, and {uri} is not set, as by Open MPI 5 "
            f"and later, so it is not known where process 0 is; say it to mpirun: "
            f"-x MASTER_ADDR=<its host> -x MASTER_PORT=<a free port there>"
        )
        raise ValueError(msg)
    return Verdict(name, why, seen, JaxClusterResolver(name, rank))


def look_for_kubernetes(environ: Mapping[str, str]) -> Verdict:
    """The variables of a pod of an indexed Job; those of any pod say nothing."""
    name, index = "Kubernetes", "JOB_COMPLETION_INDEX"
    seen = present(environ, ["KUBERNETES_SERVICE_HOST", index, PORT])
    missing = are_not_set(seen, ["KUBERNETES_SERVICE_HOST"])
    if missing:
        return Verdict(name, missing, seen)
    if index not in seen:
        why = f"{index} is not set; this pod is not one of an indexed Job"
        return Verdict(name, why, seen)
    hosts = present(environ, HOSTNAMES)
    if hosts:
        why = f"{next(iter(hosts))} is set; the pods are the hosts of a TPU"
        return Verdict(name, why, seen)
    rank = number_in(seen, index)
    why = f"{index} {rank} of the pod's Job"
    return Verdict(name, why, seen, JaxClusterResolver(name, rank))


def look_for_tpu_pod(environ: Mapping[str, str]) -> Verdict:
    """The variables of a host of a TPU with several."""
    name, index, slices = "TPU pod", "TPU_WORKER_ID", "MEGASCALE_NUM_SLICES"
    seen = present(environ, [*HOSTNAMES, index, slices, PORT])
    variable = next((v for v in HOSTNAMES if v in seen), None)
    if variable is None:
        return Verdict(name, f"{' and '.join(HOSTNAMES)} are not set", seen)
    hosts = seen[variable].split(",")
    if len(hosts) == 1 and seen.get(slices, "1") in {"", "1"}:
        return Verdict(name, f"{variable} has one host", seen)
    if index not in seen:
        return Verdict(name, f"{index} is not set", seen)
    number_in(seen, index, below=len(hosts))
    why = f"{index} {seen[index]} of the {len(hosts)} hosts of {variable}"
    return Verdict(name, why, seen, TPUClusterResolver())


def _coordinator(seen: Mapping[str, str], port: int) -> str:
    """The address of process 0, at JAX's own port if that is set."""
    if PORT in seen:
        port = port_in(seen, PORT)
    return f"{bracketed(seen['MASTER_ADDR'], 'MASTER_ADDR')}:{port}"


def _port_of_step(seen: Mapping[str, str]) -> int:
    """A port that all tasks of a step choose alike, and other steps rarely.

    Like JAX, from the number of the job, in the upper ephemeral ports.
    """
    if PORT in seen:
        return port_in(seen, PORT)
    job = number_in(seen, "SLURM_JOB_ID")
    step = number_or_none(seen, "SLURM_STEP_ID") or 0
    return 61440 + (job + 509 * step) % 3840
