"""Five replicas: sums and means of what a run returned."""

from conformance.kit import local, pull

REPLICAS = 5


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn(k):
        i = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.cast(i, tf.float32) * k

    r = s.run(fn, kwargs={"k": 2.0})
    return [
        local(s, r),
        pull(s.reduce("sum", r, axis=None)),
        pull(s.reduce(tf.distribute.ReduceOp.MEAN, r, axis=None)),
    ]
