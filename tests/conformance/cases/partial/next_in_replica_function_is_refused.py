"""next(iterator) must be called outside of the replica function."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    it = iter(s.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)))
    return attempt(lambda: local(s, s.run(lambda: next(it))))
