"""The batch that is split is the one that comes out, not the batch() size."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(12).batch(6).map(lambda x: x[:3])
    return steps(s, s.experimental_distribute_dataset(d))
