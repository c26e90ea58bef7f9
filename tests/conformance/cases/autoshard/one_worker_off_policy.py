"""OFF on one worker: the split among its replicas still happens."""

from conformance.kit import policy, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = policy(tf, tf.data.Dataset.range(8).batch(4), "OFF")
    return steps(s, s.experimental_distribute_dataset(d))
