"""ON_READ SUM of integers: a counter of examples across replicas."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        n = tf.Variable(
            0,
            dtype=tf.int64,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    @tf.function
    def step(x):
        s.run(lambda v: n.assign_add(tf.size(v, out_type=tf.int64)), args=(x,))

    for x in s.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4)):
        step(x)
    return [pull(n), local(s, n)]
