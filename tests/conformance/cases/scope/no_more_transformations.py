"""Docs: a distributed dataset takes no further tf.data transformations."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = s.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))
    return [
        hasattr(d, n) for n in ("map", "batch", "shuffle", "take", "shard", "repeat")
    ]
