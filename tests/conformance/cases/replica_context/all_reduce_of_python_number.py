"""all_reduce of equal Python numbers adds one per replica."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        return tf.distribute.get_replica_context().all_reduce("sum", tf.constant(1.0))

    return local(s, s.run(fn))
