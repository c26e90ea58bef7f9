"""Which GPUs a process opens, by what its launcher says."""

from __future__ import annotations

import pytest

from replax._src.cluster.own_gpus import own_gpus

FOUR = {"CUDA_VISIBLE_DEVICES": "0,1,2,3"}
UUIDS = {"CUDA_VISIBLE_DEVICES": "GPU-8f2a,GPU-11c0"}


@pytest.mark.parametrize(
    ("environ", "local_id", "here", "gpus"),
    [
        # By itself on its machine, or not known to share it: all of them.
        (FOUR, 0, 1, None),
        (FOUR, 0, None, None),
        (FOUR, None, 4, None),
        # All see the same.
        (FOUR, 3, 4, [3]),
        (FOUR, 1, 2, [2, 3]),
        (FOUR, 2, 3, [2]),
        (UUIDS, 1, 2, [1]),
        ({"HIP_VISIBLE_DEVICES": "0,1"}, 1, 2, [1]),
        ({}, 2, 4, [2]),
        # Slurm with --gpus-per-node: each task sees all of the node.
        (FOUR | {"SLURM_GPUS_ON_NODE": "4"}, 1, 4, [1]),
        ({"SLURM_GPUS_ON_NODE": "4"}, 1, 2, [2, 3]),
        # With --gpus-per-task each sees its own, which may all be called 0.
        ({"CUDA_VISIBLE_DEVICES": "0"}, 1, 2, None),
        ({"CUDA_VISIBLE_DEVICES": "0,1", "SLURM_GPUS_ON_NODE": "4"}, 1, 2, None),
        # None at all, and what the user has said.
        ({"CUDA_VISIBLE_DEVICES": ""}, 1, 2, None),
        (FOUR | {"JAX_LOCAL_DEVICE_IDS": "2"}, 1, 2, None),
    ],
)
def test_processes_of_one_machine_share_its_gpus(
    environ: dict[str, str], local_id: int | None, here: int | None, gpus: object
) -> None:
    assert own_gpus(environ, local_id, here) == gpus
