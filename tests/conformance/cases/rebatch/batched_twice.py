"""With two batch() calls the outer one is the global batch."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(14).batch(2).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
