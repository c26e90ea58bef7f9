"""A nest of per-replica values is reduced leaf by leaf, also in a function."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def step():
        def fn():
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            x = tf.cast(i, tf.float32)
            return {"loss": x, "parts": (x + 1.0, [x * 2.0])}

        r = s.run(fn)
        return s.reduce("MEAN", r, axis=None), s.reduce("SUM", r["parts"], axis=None)

    a, b = step()
    return [pull(a), pull(b)]
