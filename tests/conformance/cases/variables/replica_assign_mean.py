"""Aggregation MEAN: assigned per-replica values are averaged first."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

    def fn(op):
        i = tf.distribute.get_replica_context().replica_id_in_sync_group
        getattr(v, op)(tf.cast(i, tf.float32) * 4.0)
        return v.read_value()

    return [
        [local(s, s.run(fn, args=(op,))), local(s, v)]
        for op in ("assign", "assign_add", "assign_sub")
    ]
