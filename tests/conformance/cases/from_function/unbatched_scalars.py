"""No batching is needed: scalars go to replicas one by one."""

from conformance.kit import steps

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.distribute_datasets_from_function(lambda ctx: tf.data.Dataset.range(6))
    return steps(s, dist)
