"""Docs: regular tensors can be reduced with OneDeviceStrategy."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:0")
    x = tf.constant([[1.0, 2.0], [3.0, 6.0]])
    return [
        pull(s.reduce("SUM", x, axis=None)),
        pull(s.reduce("mean", x, axis=0)),
        pull(s.reduce("SUM", x, axis=0)),
        pull(s.reduce("MEAN", x, axis=None)),
        pull(s.reduce("SUM", 3.0, axis=None)),
    ]
