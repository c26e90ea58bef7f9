"""prefetch after batch changes nothing."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(6).batch(4).prefetch(tf.data.AUTOTUNE)
    return steps(s, s.experimental_distribute_dataset(d))
