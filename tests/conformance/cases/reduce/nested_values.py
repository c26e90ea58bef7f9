"""A nest of per-replica values is reduced item by item."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        i = tf.cast(
            tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
        )
        return i + 1.0, [i * 10.0]

    a, b = s.run(fn)
    return [pull(s.reduce("SUM", v, axis=None)) for v in (a, b[0])]
