"""Per-replica values returned by a function, and given to another."""

from conformance.kit import local, pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def make():
        def fn():
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            return tf.cast(i, tf.float32) * tf.ones([2]), tf.cast(i, tf.float32)

        return s.run(fn)

    @tf.function
    def use(pair, k):
        x, y = pair
        z = s.run(lambda a, b: {"sum": a + b * k}, args=(x, y))
        return z, s.reduce("MEAN", z["sum"], axis=0)

    z, m = use(make(), tf.constant(2.0))
    eager = s.run(lambda a: a["sum"] + 1.0, args=(z,))
    return [local(s, z["sum"]), pull(m), local(s, eager)]
