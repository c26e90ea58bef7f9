"""get_per_replica_batch_size divides by the replicas; must be divisible."""

from conformance.kit import attempt

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = []

    def dataset_fn(ctx):
        for n in (16, 4, 0, 6, 1):
            out.append(attempt(lambda: ctx.get_per_replica_batch_size(n)))
        return tf.data.Dataset.range(4).batch(1)

    s.distribute_datasets_from_function(dataset_fn)
    return out
