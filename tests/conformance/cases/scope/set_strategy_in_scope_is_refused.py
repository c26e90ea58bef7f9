"""experimental_set_strategy inside a scope is a RuntimeError."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def use():
        with s.scope():
            tf.distribute.experimental_set_strategy(s)

    return attempt(use)
