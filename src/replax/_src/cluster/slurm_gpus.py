"""Which GPUs of its node a task uses."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from replax._src.cluster.variables import number_in

__all__ = ["VISIBLE", "gpus_of_node", "gpus_of_task"]

VISIBLE = "CUDA_VISIBLE_DEVICES"
_ON_NODE = "SLURM_GPUS_ON_NODE"


def gpus_of_node(environ: Mapping[str, str], number: int | None) -> list[str]:
    """The names of the GPUs that the tasks on this node share.

    Args:
      environ: The variables; CUDA_VISIBLE_DEVICES names them if it is set.
      number: How many there are; those that can be seen if None.
    """
    visible = [gpu for gpu in environ.get(VISIBLE, "").split(",") if gpu.strip()]
    if VISIBLE in environ and number in {None, len(visible)}:
        return visible
    return [str(i) for i in range(_count(environ) if number is None else number)]


def gpus_of_task(gpus: Sequence[str], index_on_node: int, per_task: int) -> str:
    """What CUDA_VISIBLE_DEVICES has to be for one of the tasks on a node."""
    first = index_on_node * per_task
    return ",".join(gpus[first : first + per_task])


def _count(environ: Mapping[str, str]) -> int:
    if _ON_NODE in environ:
        return number_in(environ, _ON_NODE)
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--list-gpus"],  # noqa: S607 - found as a shell finds it
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0  # A node without NVIDIA's driver has no GPUs of theirs.
    return sum(line.startswith("GPU ") for line in listed.splitlines())
