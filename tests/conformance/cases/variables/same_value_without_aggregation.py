"""All replicas may assign one value to a variable without aggregation."""

from conformance.kit import local, pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 1.0])

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        g = ctx.all_reduce(
            "MEAN", x * tf.cast(ctx.replica_id_in_sync_group, tf.float32)
        )
        v.assign_sub(g)
        v.assign(v * 2.0)
        v.assign_add(tf.ones([2]))
        return v.read_value()

    x = tf.constant([1.0, 2.0])
    a = local(s, s.run(fn, args=(x,)))
    b = local(s, tf.function(lambda x: s.run(fn, args=(x,)))(x))
    return [a, b, local(s, v), pull(v)]
