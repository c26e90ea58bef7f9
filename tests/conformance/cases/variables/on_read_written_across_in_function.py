"""ON_READ variables read and assigned outside of a run, in a function."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    A = tf.VariableAggregation
    with s.scope():
        vs = [
            tf.Variable(
                4.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=a,
            )
            for a in (A.SUM, A.MEAN, A.ONLY_FIRST_REPLICA)
        ]

    @tf.function
    def f():
        before = [v.read_value() for v in vs]
        for v in vs:
            v.assign(tf.constant(6.0))
        middle = [v.read_value() for v in vs]
        s.run(step)
        return before, middle, [v.read_value() for v in vs]

    def step():
        i = tf.distribute.get_replica_context().replica_id_in_sync_group
        for v in vs:
            v.assign_add(tf.cast(i + 1, tf.float32))

    return [pull(f()), pull(f()), [local(s, v) for v in vs]]
