"""The docs' example: a ps task sees its own type."""

import json
import os

REPLICAS = 2


def case(tf):
    os.environ["TF_CONFIG"] = json.dumps(
        {
            "cluster": {
                "worker": ["localhost:12345", "localhost:23456"],
                "ps": ["localhost:34567"],
            },
            "task": {"type": "ps", "index": 0},
        }
    )
    r = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return [
        r.task_type,
        r.task_id,
        r.cluster_spec().num_tasks("worker"),
        sorted(r.cluster_spec().jobs),
        r.cluster_spec().job_tasks("worker"),
        r.cluster_spec().task_address("ps", 0),
    ]
