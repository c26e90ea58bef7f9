"""With a single replica a plain tensor is reduced as it is."""

from conformance.kit import pull

REPLICAS = 1


def case(tf):
    s = tf.distribute.MirroredStrategy()
    x = tf.constant([1.0, 2.0])
    return [
        pull(s.reduce("SUM", x, axis=None)),
        pull(s.reduce("MEAN", x, axis=None)),
        pull(s.reduce("SUM", x, axis=0)),
        pull(s.reduce("MEAN", x, axis=0)),
    ]
