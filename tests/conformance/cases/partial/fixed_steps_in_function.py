"""A host loop with tf.range over next(iterator) inside a tf.function."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        seen = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.SUM)
    it = iter(s.experimental_distribute_dataset(tf.data.Dataset.range(12).batch(4)))

    @tf.function
    def loop(it):
        for _ in tf.range(2):
            s.run(lambda x: seen.assign_add(tf.reduce_sum(x)), args=(next(it),))

    loop(it)
    return [pull(seen), local(s, next(it))]
