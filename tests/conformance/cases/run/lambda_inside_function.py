"""A lambda run from a tf.function."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))

    @tf.function
    def step(x):
        return s.run(lambda v: v * v, args=(x,))

    return [local(s, step(x)) for x in dist]
