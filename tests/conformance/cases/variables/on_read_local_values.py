"""ON_READ: each replica updates its own component."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def fn():
        i = tf.distribute.get_replica_context().replica_id_in_sync_group
        v.assign_add(tf.cast(i, tf.float32) * 10.0)
        return v.read_value()

    return [local(s, s.run(fn)), local(s, s.run(fn)), local(s, v)]
