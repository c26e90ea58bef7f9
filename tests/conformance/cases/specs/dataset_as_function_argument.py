"""A distributed dataset may be an argument of a tf.function."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()

    @tf.function
    def total(dist):
        t = tf.constant(0, tf.int64)
        for x in dist:
            t += s.reduce("SUM", x, axis=0)
        return t

    return [
        pull(
            total(s.experimental_distribute_dataset(tf.data.Dataset.range(n).batch(4)))
        )
        for n in (5, 9)
    ]
