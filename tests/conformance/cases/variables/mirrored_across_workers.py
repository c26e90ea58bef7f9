"""On two workers every worker sees the aggregated value."""

from conformance.kit import pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
        m = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)

    @tf.function
    def step():
        def fn():
            i = tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
            v.assign_add(i + 1.0)
            m.assign(i * 4.0)

        s.run(fn)

    step()
    step()
    return [pull(v), pull(m)]
