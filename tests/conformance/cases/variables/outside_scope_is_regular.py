"""A variable made outside any scope is a plain one: one value."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    v = tf.Variable(1.0)
    return [
        isinstance(v, tf.distribute.DistributedValues),
        len(s.experimental_local_results(v)),
        pull(v.assign_add(1.0)),
    ]
