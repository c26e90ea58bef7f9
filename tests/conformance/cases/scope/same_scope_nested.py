"""Entering the scope of the current strategy again is fine."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        with s.scope():
            v = tf.Variable(1.0)
        still = tf.distribute.get_strategy() is s
        w = tf.Variable(2.0)
    return [still, local(s, v), local(s, w), tf.distribute.has_strategy()]
