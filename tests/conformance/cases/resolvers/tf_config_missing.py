"""Without TF_CONFIG the cluster is empty and there is no task."""

import os

REPLICAS = 2


def case(tf):
    os.environ.pop("TF_CONFIG", None)
    r = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return [r.cluster_spec().as_dict(), r.task_type, r.task_id, r.master()]
