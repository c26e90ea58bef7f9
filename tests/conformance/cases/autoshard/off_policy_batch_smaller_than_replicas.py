"""OFF: a global batch of 2 over 4 replicas."""

from conformance.kit import policy, steps

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    d = policy(tf, tf.data.Dataset.range(4).batch(2), "OFF")
    return steps(s, s.experimental_distribute_dataset(d))
