"""The aggregations also hold inside a tf.function, over a dataset."""

from conformance.kit import local

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    with s.scope():
        vs = {
            k: tf.Variable(0.0, aggregation=getattr(A, k))
            for k in ("SUM", "MEAN", "ONLY_FIRST_REPLICA")
        }

    @tf.function
    def step(x):
        def fn(x):
            for v in vs.values():
                v.assign_add(tf.reduce_sum(x))

        s.run(fn, args=(x,))

    for x in s.experimental_distribute_dataset(
        tf.data.Dataset.from_tensor_slices(
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
        ).batch(4)
    ):
        step(x)
    return {k: local(s, v) for k, v in vs.items()}
