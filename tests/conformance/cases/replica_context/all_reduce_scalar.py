"""all_reduce sum and mean of scalars: every replica gets the result."""

from conformance.kit import local

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        ctx = tf.distribute.get_replica_context()
        x = tf.cast(ctx.replica_id_in_sync_group, tf.float32)
        return (
            ctx.all_reduce(tf.distribute.ReduceOp.SUM, x),
            ctx.all_reduce(tf.distribute.ReduceOp.MEAN, x),
        )

    return local(s, s.run(fn))
