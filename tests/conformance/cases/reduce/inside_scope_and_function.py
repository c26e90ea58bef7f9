"""reduce works inside the scope, outside it, and in a tf.function."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = s.run(
        lambda: (
            tf.constant([1.0, 2.0])
            + tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
        )
    )
    with s.scope():
        a = s.reduce("SUM", v, axis=0)

    @tf.function
    def f(v):
        return s.reduce("MEAN", v, axis=0), s.reduce("SUM", v, axis=None)

    b, c = f(v)
    return [pull(a), pull(b), pull(c)]
