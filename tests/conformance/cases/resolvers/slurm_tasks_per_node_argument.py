"""SlurmClusterResolver: tasks_per_node as a number or a dict of hosts."""

import os

REPLICAS = 2


def case(tf):
    os.environ.update(
        {
            "SLURM_PROCID": "2",
            "SLURM_STEP_NODELIST": "n[1-2],m5",
            "SLURM_STEP_NUM_TASKS": "6",
        }
    )
    R = tf.distribute.cluster_resolver.SlurmClusterResolver
    kw = dict(gpus_per_node=2, gpus_per_task=1, auto_set_gpu=False, port_base=7000)
    a = R(jobs={"worker": 6}, tasks_per_node=2, **kw)
    b = R(jobs={"worker": 3}, tasks_per_node={"x": 1, "y": 2}, **kw)
    return [
        a.cluster_spec().as_dict(),
        a.task_id,
        b.cluster_spec().as_dict(),
        b.task_id,
    ]
