"""HINT: shard(SHARD_HINT, SHARD_HINT) is replaced by the worker's shard."""

from conformance.kit import policy, steps

REPLICAS = 1
WORKERS = 2


def case(tf):
    s = tf.distribute.MultiWorkerMirroredStrategy()
    hint = tf.data.experimental.SHARD_HINT
    d = tf.data.Dataset.range(16).shard(hint, hint).batch(4)
    return steps(s, s.experimental_distribute_dataset(policy(tf, d, "HINT")))
