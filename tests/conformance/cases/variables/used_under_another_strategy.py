"""Assigning under another strategy's scope is a RuntimeError."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    a = tf.distribute.MirroredStrategy()
    b = tf.distribute.OneDeviceStrategy("/cpu:0")
    with a.scope():
        v = tf.Variable(1.0)

    def use():
        with b.scope():
            return v.assign(2.0)

    return [attempt(use), local(a, v)]
