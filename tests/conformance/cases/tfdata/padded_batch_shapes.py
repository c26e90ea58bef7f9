"""padded_batch pads to the longest or to a given shape, with a value."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    d = tf.data.Dataset.range(1, 5).map(lambda n: tf.zeros([n], tf.int64) + n)
    return [
        [pull(x) for x in d.padded_batch(2)],
        [pull(x) for x in d.padded_batch(2, padded_shapes=[5])],
        [
            pull(x)
            for x in d.padded_batch(
                3, padding_values=tf.constant(-1, tf.int64), drop_remainder=True
            )
        ],
    ]
