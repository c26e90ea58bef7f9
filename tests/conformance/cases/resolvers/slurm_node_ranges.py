"""SlurmClusterResolver: bracketed node lists, repeated counts, two jobs."""

import os

REPLICAS = 2


def case(tf):
    os.environ.update(
        {
            "SLURM_PROCID": "3",
            "SLURM_STEP_NUM_TASKS": "5",
            "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
            "SLURM_STEP_NODELIST": "t02n[09-10,13]",
        }
    )
    r = tf.distribute.cluster_resolver.SlurmClusterResolver(
        jobs={"ps": 1, "worker": 4},
        gpus_per_node=2,
        gpus_per_task=1,
        auto_set_gpu=False,
    )
    return [r.cluster_spec().as_dict(), r.task_type, r.task_id]
