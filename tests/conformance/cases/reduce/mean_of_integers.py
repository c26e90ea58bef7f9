"""MEAN axis=0 of integers is a true division."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = next(iter(s.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))))
    return pull(s.reduce("MEAN", x, axis=0))
