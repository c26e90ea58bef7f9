"""ON_READ variables: local in run, reduced over workers outside."""

from conformance.kit import local, pull

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    with s.scope():
        v = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        m = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN,
        )

    def fn():
        i = tf.cast(
            tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
        )
        v.assign_add(i + 1.0)
        m.assign_add(i + 1.0)
        return v.read_value()

    mine = local(s, s.run(fn))
    return [mine, pull(v.read_value()), pull(m.read_value())]
