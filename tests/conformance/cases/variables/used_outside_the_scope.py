"""Docs: reading and writing outside the scope works without entering it."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(1.0)
    v.assign_add(1.0)

    @tf.function
    def f():
        v.assign_add(10.0)
        return v * 2.0

    return [pull(f()), local(s, v), pull(v)]
