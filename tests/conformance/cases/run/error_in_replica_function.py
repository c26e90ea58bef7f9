"""An exception in fn reaches the caller with its class; later runs work."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def bad():
        raise KeyError("mine")

    return [attempt(lambda: s.run(bad)), local(s, s.run(lambda: tf.constant(4)))]
