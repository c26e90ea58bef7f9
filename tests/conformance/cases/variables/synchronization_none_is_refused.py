"""synchronization NONE is not supported under a strategy: ValueError."""

from conformance.kit import attempt

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    def make():
        with s.scope():
            return tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)

    return attempt(make)
