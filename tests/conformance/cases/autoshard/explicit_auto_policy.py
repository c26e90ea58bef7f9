"""AUTO set explicitly is the default."""

from conformance.kit import policy, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    d = policy(tf, tf.data.Dataset.from_tensor_slices(list(range(6))).batch(4), "AUTO")
    return steps(s, s.experimental_distribute_dataset(d))
