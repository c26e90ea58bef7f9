"""What a replica knows of itself in a compiled step."""

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    @tf.function
    def step():
        def fn():
            ctx = tf.distribute.get_replica_context()
            seen.append([ctx.num_replicas_in_sync, ctx.strategy is s])
            return tf.cast(ctx.replica_id_in_sync_group, tf.int64) * 2

        return s.run(fn)

    return [local(s, step()), seen[0]]
