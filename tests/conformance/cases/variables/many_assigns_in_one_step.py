"""Several replica-context assigns in one step happen in program order."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def step():
        def fn():
            i = tf.cast(
                tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32
            )
            v.assign_add(1.0 + i)
            a = v.read_value()
            v.assign(a * 0.5)
            return a, v.read_value()

        return s.run(fn)

    return [local(s, step()), local(s, step()), pull(v)]
