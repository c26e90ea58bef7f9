"""experimental_distribute_dataset in v1 clothes: same split, for loop."""

from conformance.kit import steps

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    return [
        steps(s, s.experimental_distribute_dataset(tf.data.Dataset.range(6).batch(4))),
        steps(s, s.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))),
    ]
