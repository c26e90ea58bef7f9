"""Entering another strategy's scope is a RuntimeError; the outer survives."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    a = tf.distribute.MirroredStrategy()
    b = tf.distribute.MirroredStrategy()

    def use():
        with b.scope():
            return 1

    with a.scope():
        r = attempt(use)
        still = tf.distribute.get_strategy() is a
    return [r, still, tf.distribute.has_strategy(), attempt(use)]
