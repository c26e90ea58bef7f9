"""drop_remainder batches from a function: the step count is the minimum."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.distribute_datasets_from_function(
        lambda ctx: tf.data.Dataset.range(8).batch(2, drop_remainder=True)
    )
    return steps(s, dist)
