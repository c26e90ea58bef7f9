"""compat.v1 experimental.MultiWorkerMirroredStrategy over two workers."""

from conformance.kit import pull, steps

REPLICAS = 1
WORKERS = 2
API = "v1"


def case(tf):
    s = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    per = s.run(
        lambda: tf.distribute.get_replica_context().replica_id_in_sync_group + 1
    )
    d = s.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(4))
    return [
        s.num_replicas_in_sync,
        s.cluster_resolver.task_type,
        s.cluster_resolver.task_id,
        pull(s.reduce("SUM", per)),
        steps(s, d),
    ]
