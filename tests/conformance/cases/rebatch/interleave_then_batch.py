"""interleave and flat_map sources are batched and split as any other."""

from conformance.kit import steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    base = tf.data.Dataset.range(3)
    a = base.interleave(
        lambda i: tf.data.Dataset.range(2).map(lambda j: i * 10 + j),
        cycle_length=3,
        block_length=1,
    ).batch(4)
    b = base.flat_map(lambda i: tf.data.Dataset.range(i)).batch(2)
    return [
        steps(s, s.experimental_distribute_dataset(a)),
        steps(s, s.experimental_distribute_dataset(b)),
    ]
