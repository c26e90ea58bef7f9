"""merge_fn runs once for all replicas."""

from conformance.kit import local

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    calls = []

    def merge_fn(strategy):
        calls.append(1)
        return tf.constant(7)

    def fn():
        return tf.distribute.get_replica_context().merge_call(merge_fn) + 1

    return [local(s, s.run(fn)), len(calls)]
