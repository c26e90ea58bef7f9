"""repeat() without a count never ends; the steps are full."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(3).repeat().batch(4)
    it = iter(s.experimental_distribute_dataset(d))
    return [local(s, next(it)) for _ in range(4)]
