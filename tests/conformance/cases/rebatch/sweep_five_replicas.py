"""Batch and dataset sizes that do not divide, over 5 replicas."""

from conformance.kit import steps

REPLICAS = 5


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = {}
    for n, b in [(12, 6), (11, 7), (16, 8), (18, 9), (11, 11), (23, 12)]:
        d = tf.data.Dataset.range(n).batch(b)
        out["%d by %d" % (n, b)] = steps(s, s.experimental_distribute_dataset(d))
    return out
