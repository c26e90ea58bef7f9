"""Docs: entering a scope alone distributes nothing; values stay single."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        x = tf.constant([1.0, 2.0]) * 2.0
    return [isinstance(x, tf.distribute.DistributedValues), pull(x)]
