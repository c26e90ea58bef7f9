"""TFConfigClusterResolver reads cluster, task and more from TF_CONFIG."""

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
            "task": {"type": "worker", "index": 1},
        }
    )
    r = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return [
        r.cluster_spec().as_dict(),
        r.task_type,
        r.task_id,
        r.rpc_layer,
        r.master("worker", 0),
        r.master("ps", 0),
    ]
