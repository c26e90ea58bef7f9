"""Docs: 0..7 over 2 replicas; axis=None adds pairwise, axis=0 adds all."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = next(iter(s.experimental_distribute_dataset(tf.data.Dataset.range(8).batch(8))))
    return [pull(s.reduce("sum", x, axis=None)), pull(s.reduce("sum", x, axis=0))]
