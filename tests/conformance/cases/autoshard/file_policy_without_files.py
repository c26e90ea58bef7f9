"""FILE on a dataset without files is an error."""

from conformance.kit import attempt, policy, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    d = policy(tf, tf.data.Dataset.range(8).batch(4), "FILE")
    return attempt(lambda: steps(s, s.experimental_distribute_dataset(d)))
