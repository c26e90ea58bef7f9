"""With one replica nothing is split, so scalars are fine."""

from conformance.kit import steps

REPLICAS = 1


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(4)
    return steps(s, s.experimental_distribute_dataset(d))
