"""group_by_window: windows of a size, or of a size for each key; keys; the rest."""

from conformance.kit import attempt, pull

REPLICAS = 1


def case(tf):
    d = tf.data.Dataset.range(10)

    def grouped(**how):
        found = d.group_by_window(
            key_func=lambda x: x % 3, reduce_func=lambda k, w: w.batch(4), **how
        )
        return [pull(x) for x in found]

    with_key = d.group_by_window(
        lambda x: x % 2, lambda k, w: w.map(lambda x: (k, x)).batch(2), 3
    )
    return [
        grouped(window_size=2),
        grouped(window_size_func=lambda key: (key + 1) * 2),
        attempt(grouped),
        attempt(lambda: grouped(window_size=2, window_size_func=lambda key: key)),
        [pull(x) for x in with_key],
        pull(with_key.cardinality()),
    ]
