"""DATA over 3 workers: 4 splits as [2, 2, 0]."""

from conformance.kit import policy, steps

REPLICAS = 1
WORKERS = 3


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    d = policy(tf, tf.data.Dataset.range(8).batch(4), "DATA")
    return steps(s, s.experimental_distribute_dataset(d))
