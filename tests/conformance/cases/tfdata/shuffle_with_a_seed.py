"""shuffle: all elements once; reshuffle_each_iteration=False repeats."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    d = tf.data.Dataset.range(20).shuffle(20, seed=3, reshuffle_each_iteration=False)
    a, b = [pull(x) for x in d], [pull(x) for x in d]
    small = [pull(x) for x in tf.data.Dataset.range(10).shuffle(2)]
    return [
        sorted(a),
        a == b,
        sorted(small),
        max(i - v for i, v in enumerate(small)) <= 9,
        all(v <= i + 1 for i, v in enumerate(small)),
    ]
