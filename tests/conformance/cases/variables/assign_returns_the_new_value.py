"""What assign returns has the new value."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable([1.0, 2.0])
    a = pull(v.assign_add([1.0, 1.0]))
    b = pull(v.assign_sub([0.5, 0.5]))

    @tf.function
    def f():
        return v.assign(v * 2.0) + 1.0

    return [a, b, pull(v), pull(f()), local(s, v)]
