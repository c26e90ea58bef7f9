"""A for loop over a distributed dataset inside a tf.function."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(1, 8).batch(4))

    @tf.function
    def epoch(dist):
        total = tf.constant(0, tf.int64)
        for x in dist:
            per = s.run(lambda v: tf.reduce_sum(v), args=(x,))
            total += s.reduce("SUM", per, axis=None)
        return total

    return [pull(epoch(dist)), pull(epoch(dist))]
