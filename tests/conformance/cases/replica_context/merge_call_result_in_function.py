"""What merge_fn returns as one tensor, a compiled run returns as one tensor."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def merge(strategy, v):
        return strategy.reduce("MEAN", v, axis=None), v

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        i = tf.cast(ctx.replica_id_in_sync_group, tf.float32)
        mean, own = ctx.merge_call(merge, args=(x * (i + 1.0),))
        return mean, own, mean + 0.0

    step = tf.function(lambda x: s.run(fn, args=(x,)))
    x = tf.constant([1.0, 3.0])
    return [local(s, step(x)), local(s, s.run(fn, args=(x,)))]
