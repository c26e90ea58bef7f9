"""skip counts global batches."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(11).batch(4).skip(1)
    return steps(s, s.experimental_distribute_dataset(d))
