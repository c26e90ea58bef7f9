"""In a tf.function, next() past the end is OutOfRangeError for the caller."""

from conformance.kit import attempt, local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    it = iter(s.experimental_distribute_dataset(tf.data.Dataset.range(2).batch(2)))

    @tf.function
    def step(it):
        return s.run(lambda x: x + 1, args=(next(it),))

    return [local(s, step(it)), attempt(lambda: step(it))]
