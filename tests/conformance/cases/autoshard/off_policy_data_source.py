"""OFF also stops sharding of datasets that are not files."""

from conformance.kit import policy, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    d = policy(tf, tf.data.Dataset.range(8).batch(4), "OFF")
    return steps(s, s.experimental_distribute_dataset(d))
