"""In the function of a merge_call there is no replica context, but the strategy."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    seen = []

    def merge(strategy, x):
        seen.append(
            [
                strategy is s,
                tf.distribute.get_replica_context() is None,
                tf.distribute.in_cross_replica_context(),
                isinstance(x, tf.distribute.DistributedValues),
                tf.distribute.get_strategy() is s,
            ]
        )
        return x

    def fn():
        ctx = tf.distribute.get_replica_context()
        ctx.merge_call(merge, args=(tf.cast(ctx.replica_id_in_sync_group, tf.float32),))
        return tf.distribute.get_replica_context() is ctx

    return [s.run(fn), seen]
