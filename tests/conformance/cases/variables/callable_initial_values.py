"""Initial values may be callables, also with a dtype."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    calls = []

    def make():
        calls.append(1)
        return tf.range(3)

    with s.scope():
        v = tf.Variable(make)
        w = tf.Variable(lambda: tf.ones([2], tf.float64))
    return [local(s, v), v.dtype == tf.int32, local(s, w), w.dtype == tf.float64]
