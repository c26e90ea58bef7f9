"""A while loop on a variable's value."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(10, dtype=tf.int64)

    @tf.function
    def halve():
        n = tf.constant(0)
        while v > 1:
            v.assign(v // 2)
            n += 1
        return n

    return [pull(halve()), pull(v)]
