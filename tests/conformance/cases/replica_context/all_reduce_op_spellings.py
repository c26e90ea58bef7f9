"""all_reduce takes strings in any case."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        ctx = tf.distribute.get_replica_context()
        x = tf.cast(ctx.replica_id_in_sync_group, tf.float32) + 1.0
        return [ctx.all_reduce(op, x) for op in ("SUM", "sum", "Mean", "MEAN")]

    return local(s, s.run(fn))
