"""Small ops the programs use: stack, concat, cast, shape, max, nest."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return [
        pull(tf.concat([x, x], axis=1)),
        pull(tf.stack([x, x * 2], axis=0)),
        pull(tf.cast(x, tf.float32) / 2.0),
        pull(tf.shape(x)),
        pull(tf.size(x)),
        pull(tf.reduce_max(x, axis=0)),
        pull(tf.reduce_mean(x)),
        pull(tf.reduce_mean(tf.cast(x, tf.float32), axis=1)),
        pull(tf.reduce_sum(x, axis=[0, 1])),
        pull(tf.range(2, 8, 3)),
        tf.nest.map_structure(lambda v: v + 1, {"a": 1, "b": (2, [3])}),
        pull(tf.ones([2], tf.int32)),
        pull(tf.square(x)),
        pull(tf.matmul(tf.cast(x, tf.float32), tf.ones([2, 1]))),
    ]
