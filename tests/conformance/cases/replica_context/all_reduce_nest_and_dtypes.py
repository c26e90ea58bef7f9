"""all_reduce of nests with leaves of several shapes, in several dtypes."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        ctx = tf.distribute.get_replica_context()
        out = []
        for dtype in (tf.int64, tf.float32, tf.float64):
            i = tf.cast(ctx.replica_id_in_sync_group, dtype)
            nest = {
                "i": i + 1,
                "l": (tf.stack([i, i * 2**33]), [tf.ones([2, 2], dtype)]),
            }
            out.append(ctx.all_reduce("SUM", nest))
        return out

    eager = s.run(fn)
    compiled = tf.function(lambda: s.run(fn))()
    return [local(s, eager), local(s, compiled)]
