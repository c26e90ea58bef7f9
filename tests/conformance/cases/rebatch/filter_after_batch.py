"""filter sees global batches, before they are split."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(10).batch(4).filter(lambda x: tf.reduce_sum(x) > 10)
    return steps(s, s.experimental_distribute_dataset(d))
