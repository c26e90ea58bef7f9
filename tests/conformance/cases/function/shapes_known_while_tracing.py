"""tf.shape, tf.size and tf.range of arguments, used for shapes and in numbers."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    @tf.function
    def f(x):
        n = tf.shape(x)[0]
        mean = tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32)
        return (
            tf.zeros([n, 2]),
            tf.range(n) * 2,
            mean,
            tf.reshape(x, [n, 1]),
            tf.cast(n, tf.int64),
            tf.fill([n], 7.0),
        )

    return [pull(f(tf.constant([1.0, 2.0, 3.0]))), pull(f(tf.constant([5.0])))]
