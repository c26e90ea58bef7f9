"""SUM keeps the dtype, of small integers, of 64 bits and of half precision."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []
    for dtype in (tf.int32, tf.int64, tf.float16, tf.float32, tf.float64):
        x = s.experimental_distribute_values_from_function(
            lambda ctx: tf.cast([1, 2 + ctx.replica_id_in_sync_group], dtype)
        )
        total = s.reduce("SUM", x, axis=0)
        each = s.reduce("SUM", x, axis=None)
        out.append([pull(total), total.dtype == dtype, pull(each), each.dtype == dtype])
    return out
