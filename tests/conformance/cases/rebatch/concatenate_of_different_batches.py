"""Batches of different sizes in one dataset are each split by their size."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    a = tf.data.Dataset.range(6).batch(4)
    b = tf.data.Dataset.range(100, 103).batch(3)
    return steps(s, s.experimental_distribute_dataset(a.concatenate(b)))
