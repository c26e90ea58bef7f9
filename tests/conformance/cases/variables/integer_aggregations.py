"""Integer variables: SUM and ONLY_FIRST_REPLICA, in 32 and 64 bits."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    out = []
    for dtype in (tf.int32, tf.int64):
        with s.scope():
            a = tf.Variable(1, dtype=dtype, aggregation=A.SUM)
            b = tf.Variable([1, 1], dtype=dtype, aggregation=A.ONLY_FIRST_REPLICA)

        def fn():
            i = tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, dtype
            )
            a.assign_add(i + 3)
            b.assign_add(tf.stack([i + 1, i + 5]))
            return a.read_value() * 2

        compiled = tf.function(lambda: s.run(fn))
        out.append(
            [local(s, s.run(fn)), local(s, compiled()), local(s, a), local(s, b)]
        )
    return out
