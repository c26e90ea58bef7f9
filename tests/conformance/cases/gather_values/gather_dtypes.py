"""gather keeps dtypes."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for dtype in (tf.int32, tf.int64, tf.float64, tf.float16):
        x = s.experimental_distribute_values_from_function(
            lambda ctx: tf.cast([ctx.replica_id_in_sync_group, 7], dtype)
        )
        g = s.gather(x, axis=0)
        out.append([pull(g), g.dtype == dtype])
    return out
