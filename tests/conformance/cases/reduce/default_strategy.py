"""Docs: the default strategy reduces a regular tensor."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.get_strategy()
    x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
    return [
        pull(s.reduce("SUM", x, axis=None)),
        pull(s.reduce("MEAN", x, axis=0)),
        pull(s.reduce("SUM", x, axis=1)),
    ]
