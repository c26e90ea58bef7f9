"""Guide: several steps per tf.function call, next(iterator) inside."""

from conformance.kit import attempt, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        w = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
    d = tf.data.Dataset.from_tensor_slices([float(i) for i in range(16)]).batch(4)
    it = iter(s.experimental_distribute_dataset(d))

    def step_fn(x):
        w.assign_add(tf.reduce_sum(x))

    @tf.function
    def train_fn(iterator):
        for _ in tf.range(2):
            s.run(step_fn, args=(next(iterator),))

    train_fn(it)
    a = pull(w)
    train_fn(it)
    return [a, pull(w), attempt(lambda: train_fn(it))]
