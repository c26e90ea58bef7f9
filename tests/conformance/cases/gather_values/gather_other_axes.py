"""Docs: (1, 2, 3) over 4 replicas along axes 0, 1 and 2: the shapes."""

from conformance.kit import pull

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    one = tf.stack([tf.stack([tf.range(3), tf.range(3, 6)])])
    v = s.experimental_distribute_values_from_function(lambda ctx: tf.identity(one))
    return [
        [list(s.gather(v, axis=a).shape), pull(tf.reduce_sum(s.gather(v, axis=a)))]
        for a in (0, 1, 2)
    ] + [pull(s.gather(v, axis=2))]
