"""A resolver given to the strategy is used instead of TF_CONFIG."""

import json
import os

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    config = json.loads(os.environ.pop("TF_CONFIG"))
    r = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(config["cluster"]),
        task_type="worker",
        task_id=config["task"]["index"],
        rpc_layer="grpc",
    )
    s = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=r)
    per = s.run(
        lambda: tf.distribute.get_replica_context().replica_id_in_sync_group + 1
    )
    return [
        s.cluster_resolver is r,
        s.cluster_resolver.task_id,
        s.num_replicas_in_sync,
        pull(s.reduce("SUM", per, axis=None)),
    ]
