"""gather inside a tf.function, of what a run in it returned."""

from conformance.kit import pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def f():
        def fn():
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            return tf.reshape(tf.cast(i, tf.int64) * 10, [1]), tf.ones([2, 1]) * 3.0

        a, b = s.run(fn)
        return s.gather(a, axis=0), s.gather(b, axis=1), s.gather(b, axis=0)

    return [pull(v) for v in f()]
