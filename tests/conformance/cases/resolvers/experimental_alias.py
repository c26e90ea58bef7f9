"""tf.distribute.experimental.MultiWorkerMirroredStrategy is the old name."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
    s.run(lambda: v.assign_add(tf.constant(1.0)))
    return [
        s.num_replicas_in_sync,
        s.cluster_resolver.task_type,
        pull(v),
        isinstance(s, tf.distribute.Strategy),
    ]
