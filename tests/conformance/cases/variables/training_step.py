"""Gradient descent by hand: all_reduced gradients keep the copies in sync."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        w = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
    dist = s.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices(
            ([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0])
        ).batch(4)
    )

    @tf.function
    def step(batch):
        def fn(x, y):
            ctx = tf.distribute.get_replica_context()
            g = ctx.all_reduce("sum", tf.reduce_sum(2.0 * (w * x - y) * x)) / 4.0
            w.assign_sub(0.01 * g)

        s.run(fn, args=batch)

    for _ in range(3):
        for batch in dist:
            step(batch)
    return [pull(w), local(s, w)]
