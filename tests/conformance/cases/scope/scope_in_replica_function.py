"""Entering the strategy's scope inside a replica function is an error."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def fn():
        with s.scope():
            return tf.constant(1)

    return attempt(lambda: local(s, s.run(fn)))
