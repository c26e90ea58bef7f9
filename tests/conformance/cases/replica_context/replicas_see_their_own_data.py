"""Replica functions mix their own slice with an all-reduced statistic."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).batch(4)
    )

    def fn(x):
        ctx = tf.distribute.get_replica_context()
        n = ctx.all_reduce("sum", tf.cast(tf.size(x), tf.float32))
        total = ctx.all_reduce("sum", tf.reduce_sum(x))
        return x - total / n

    return [local(s, s.run(fn, args=(x,))) for x in dist]
