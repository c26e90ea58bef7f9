"""No splitting: a replica dequeues a whole element of the local dataset."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.distribute_datasets_from_function(
        lambda ctx: tf.data.Dataset.range(8).batch(2)
    )
    return steps(s, dist)
