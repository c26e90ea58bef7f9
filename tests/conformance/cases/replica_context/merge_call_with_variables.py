"""merge_call that updates variables and returns one value a replica."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([0.0, 0.0])
        n = tf.Variable(0)

    def merge(strategy, g, x):
        total = strategy.extended.reduce_to("SUM", g, destinations=v)
        strategy.extended.update(v, lambda var, t: var.assign_sub(t), args=(total,))
        n.assign_add(1)
        return x

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        return ctx.merge_call(merge, args=(x * 2.0, x)) + 1.0

    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([1.0, 2.0]) * (ctx.replica_id_in_sync_group + 1.0)
    )
    a = local(s, s.run(fn, args=(x,)))
    b = local(s, tf.function(lambda x: s.run(fn, args=(x,)))(x))
    return [a, b, local(s, v), pull(n)]
