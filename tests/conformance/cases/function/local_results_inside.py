"""experimental_local_results in a function."""

from conformance.kit import pull

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def f(x):
        def fn(x):
            i = tf.distribute.get_replica_context().replica_id_in_sync_group
            return x * tf.cast(i, tf.float32)

        parts = s.experimental_local_results(s.run(fn, args=(x,)))
        return tf.stack(parts), len(parts)

    a, n = f(tf.constant([1.0, 2.0]))
    return [pull(a), pull(n)]
