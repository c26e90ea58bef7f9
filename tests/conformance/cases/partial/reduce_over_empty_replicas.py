"""An empty replica contributes nothing to a sum over the batch."""

from conformance.kit import local, pull

REPLICAS = 4


def case(tf):
    s = tf.distribute.MirroredStrategy()
    dist = s.experimental_distribute_dataset(tf.data.Dataset.range(1, 7).batch(4))
    out = []
    for x in dist:
        per = s.run(lambda v: tf.reduce_sum(v), args=(x,))
        n = s.run(lambda v: tf.size(v), args=(x,))
        out.append([local(s, per), local(s, n), pull(s.reduce("SUM", per, axis=None))])
    return out
