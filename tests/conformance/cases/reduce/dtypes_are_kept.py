"""SUM keeps the dtype of the values."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for dtype in (tf.int32, tf.int64, tf.float32, tf.float64):
        v = s.run(
            lambda: tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group + 1, dtype
            )
        )
        r = s.reduce("SUM", v, axis=None)
        out.append([str(r.numpy().dtype), pull(r)])
    return out
