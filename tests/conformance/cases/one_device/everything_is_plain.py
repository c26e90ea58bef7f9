"""OneDeviceStrategy: values, reductions and variables are plain."""

from conformance.kit import pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.OneDeviceStrategy("/cpu:1")
    with s.scope():
        v = tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.SUM)
        r = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    @tf.function
    def step(x):
        def fn(x):
            v.assign_add(x)
            r.assign_add(tf.reduce_sum(x))
            return x * 2.0

        return s.run(fn, args=(x,))

    y = step(tf.constant([1.0, 1.0]))
    return [
        pull(y),
        pull(v),
        pull(r),
        pull(s.reduce("SUM", y, axis=None)),
        pull(s.reduce("MEAN", y, axis=0)),
        pull(s.gather(y, axis=0)),
        isinstance(v, tf.distribute.DistributedValues),
        len(s.experimental_local_results(y)),
        s.num_replicas_in_sync,
    ]
