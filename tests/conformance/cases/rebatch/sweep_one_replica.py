"""One replica gets every batch whole, partial ones included."""

from conformance.kit import steps

REPLICAS = 1


def case(tf):
    s = tf.distribute.MirroredStrategy()
    out = {}
    for n, b, drop in [(6, 4, False), (6, 4, True), (3, 5, False), (4, 1, False)]:
        d = tf.data.Dataset.range(n).batch(b, drop_remainder=drop)
        out["%d by %d drop %s" % (n, b, drop)] = steps(
            s, s.experimental_distribute_dataset(d)
        )
    return out
