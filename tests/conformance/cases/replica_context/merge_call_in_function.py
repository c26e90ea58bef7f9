"""merge_call in a compiled step: sees all values, returns one or one a replica."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(0.0)

    def merge(strategy, x, k=1.0):
        total = strategy.reduce("SUM", x, axis=None)
        strategy.extended.update(v, lambda var, t: var.assign_add(t * k), args=(total,))
        return total

    @tf.function
    def step():
        def fn():
            ctx = tf.distribute.get_replica_context()
            x = tf.cast(ctx.replica_id_in_sync_group, tf.float32) + 1.0
            return ctx.merge_call(merge, args=(x,), kwargs={"k": 2.0}) + x

        return s.run(fn)

    return [local(s, step()), pull(v), local(s, step()), pull(v)]
