"""Batch and dataset sizes that do not divide, over 8 replicas."""

from conformance.kit import steps

REPLICAS = 8


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = {}
    for n, b in [(20, 16), (10, 10), (19, 12), (3, 2), (21, 20)]:
        d = tf.data.Dataset.range(n).batch(b)
        out["%d by %d" % (n, b)] = steps(s, s.experimental_distribute_dataset(d))
    return out
