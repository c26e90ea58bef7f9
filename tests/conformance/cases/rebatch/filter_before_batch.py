"""filter before batch: 5 odd numbers batched by 4 over 3 replicas."""

from conformance.kit import steps

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 1).batch(4)
    return steps(s, s.experimental_distribute_dataset(d))
