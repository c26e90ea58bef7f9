"""tf.cond, tf.while_loop and tf.map_fn, at once and in a function."""

from conformance.kit import pull

REPLICAS = 1


def case(tf):
    def chosen(x):
        return tf.cond(x > 2, lambda: x * 10, lambda: x)

    def summed(n):
        return tf.while_loop(
            lambda i, t: i < n, lambda i, t: (i + 1, t + i), (tf.constant(0), 0)
        )

    def rows(x):
        return tf.map_fn(lambda row: row * 2, x)

    out = []
    for wrap in (lambda f: f, tf.function):
        out += [
            [pull(wrap(chosen)(tf.constant(n))) for n in (1, 5)],
            pull(wrap(summed)(tf.constant(4))),
            pull(wrap(rows)(tf.constant([[1, 2], [3, 4]]))),
        ]
    data = tf.data.Dataset.range(1, 5).map(chosen)
    return [*out, [pull(x) for x in data]]
