"""drop_remainder=True drops the partial global batch before splitting."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(11).batch(4, drop_remainder=True)
    return steps(s, s.experimental_distribute_dataset(d))
