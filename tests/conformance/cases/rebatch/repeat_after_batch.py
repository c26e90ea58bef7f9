"""repeat after batch: each epoch's partial batch is split by itself."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(6).batch(4).repeat(2)
    return steps(s, s.experimental_distribute_dataset(d))
