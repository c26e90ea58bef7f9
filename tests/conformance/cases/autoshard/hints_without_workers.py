"""SHARD_HINT on one worker, under HINT, under OFF, and without a strategy."""

from conformance.kit import attempt, policy, pull, steps

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    hint = tf.data.experimental.SHARD_HINT
    d = tf.data.Dataset.range(6).shard(hint, hint)

    def split(name):
        data = policy(tf, d.batch(2), name)
        return attempt(lambda: steps(s, s.experimental_distribute_dataset(data)))

    return [split("HINT"), split("OFF"), attempt(lambda: [pull(x) for x in d])]
