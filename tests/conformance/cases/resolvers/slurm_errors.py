"""SlurmClusterResolver: RuntimeError for missing variables and wrong counts."""

import os

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    R = tf.distribute.cluster_resolver.SlurmClusterResolver
    kw = dict(gpus_per_node=2, gpus_per_task=1, auto_set_gpu=False)
    for k in list(os.environ):
        if k.startswith("SLURM_"):
            del os.environ[k]

    def make(**more):
        return R(**dict(kw, **more)) is not None

    a = attempt(make)
    os.environ.update(
        {
            "SLURM_PROCID": "0",
            "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_STEP_TASKS_PER_NODE": "2",
            "SLURM_STEP_NODELIST": "n1",
        }
    )
    return [
        a,
        attempt(make),
        attempt(lambda: make(jobs={"worker": 5})),
        attempt(lambda: make(gpus_per_task=4)),
    ]
