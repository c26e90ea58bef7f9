"""all_reduce of a nest keeps its structure."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        ctx = tf.distribute.get_replica_context()
        i = tf.cast(ctx.replica_id_in_sync_group, tf.float32)
        return ctx.all_reduce("mean", {"a": i, "b": (i * 2.0, [i * 4.0])})

    return local(s, s.run(fn))
