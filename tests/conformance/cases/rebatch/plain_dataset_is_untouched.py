"""Distributing a dataset does not change the dataset given."""

from conformance.kit import pull, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(6).batch(4)
    dist = s.experimental_distribute_dataset(d)
    first = steps(s, dist)
    return [first, [pull(x) for x in d], steps(s, dist)]
