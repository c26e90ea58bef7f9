"""all_reduce of matrices inside a tf.function."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def step():
        def fn():
            ctx = tf.distribute.get_replica_context()
            i = tf.cast(ctx.replica_id_in_sync_group, tf.float32)
            return ctx.all_reduce("sum", tf.ones([2, 2]) * (i + 1.0))

        return s.run(fn)

    return local(s, step())
