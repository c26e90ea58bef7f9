"""Which GPUs of its machine a process opens when it is not alone there."""

from __future__ import annotations

from collections.abc import Mapping

from replax._src.cluster.variables import number_or_none

__all__ = ["own_gpus"]

# JAX's own variable, which it reads by itself.
_CHOSEN = "JAX_LOCAL_DEVICE_IDS"
_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_ON_NODE = "SLURM_GPUS_ON_NODE"


def own_gpus(
    environ: Mapping[str, str], local_id: int | None, processes_here: int | None
) -> list[int] | None:
    """The GPUs to open, by their places among those that this process sees.

    Where processes of one machine see the same GPUs, each opens its share: NCCL refuses
    a GPU that two of them use. JAX would open one GPU, of the number of the process on
    its machine; that leaves GPUs idle where there are fewer processes than GPUs, and
    fails where the launcher shows each process none but its own.

    Args:
      environ: Environment variables.
      local_id: Which of the processes on its machine this is, if known.
      processes_here: How many there are on its machine, if known.

    Returns:
      None for all that it sees.
    """
    if _CHOSEN in environ or local_id is None or processes_here in {None, 1}:
        return None
    on_node = number_or_none(environ, _ON_NODE)
    lists = [environ[name] for name in _VISIBLE if name in environ]
    if not lists and on_node is None:
        return [local_id]  # It is not known how many there are.
    visible = len([gpu for gpu in lists[0].split(",") if gpu]) if lists else on_node
    assert visible is not None
    assert processes_here is not None
    share = visible // processes_here
    if share == 0 or (on_node is not None and visible < on_node):
        return None  # They have been shared out by the launcher.
    return list(range(local_id * share, (local_id + 1) * share))
