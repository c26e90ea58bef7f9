"""drop_remainder is about the global batch: 5 over 3 is still [2, 2, 1]."""

from conformance.kit import steps

REPLICAS = 3


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = {}
    for n, b in [(10, 5), (9, 4), (14, 7), (4, 2), (4, 1)]:
        d = tf.data.Dataset.range(n).batch(b, drop_remainder=True)
        out["%d by %d" % (n, b)] = steps(s, s.experimental_distribute_dataset(d))
    return out
