"""shard(n, i) takes every n-th element from i."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    d = tf.data.Dataset.range(10)
    return [[pull(x) for x in d.shard(3, i)] for i in range(3)] + [
        attempt(lambda: [pull(x) for x in d.shard(3, 3)])
    ]
